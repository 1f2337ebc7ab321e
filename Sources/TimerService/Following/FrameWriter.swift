/// Writes the fields of a message, little-endian, behind the four bytes that tell its length.
struct FrameWriter {
    private var bytes: [UInt8] = [0, 0, 0, 0]

    /// Appends an integer.
    mutating func append(_ integer: some FixedWidthInteger) {
        for index in 0..<integer.bitWidth / 8 { bytes.append(UInt8(truncatingIfNeeded: integer >> (8 * index))) }
    }

    /// Appends a partition's number.
    mutating func append(partition number: Int) { append(UInt16(truncatingIfNeeded: number)) }

    /// Appends a count.
    mutating func append(count: Int) { append(UInt32(truncatingIfNeeded: count)) }

    /// Appends bytes as they are.
    mutating func append(_ more: [UInt8]) { bytes += more }

    /// The message.
    func finish() -> [UInt8] {
        var message = bytes
        let count = UInt32(truncatingIfNeeded: bytes.count - 4)
        for index in 0..<4 { message[index] = UInt8(truncatingIfNeeded: count >> UInt32(8 * index)) }
        return message
    }
}
