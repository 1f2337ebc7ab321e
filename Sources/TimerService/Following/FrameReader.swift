/// Reads the fields of a message, little-endian. Whatever the bytes are, it traps on none.
struct FrameReader {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    /// Begins at the first of `bytes`.
    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        place = bytes.startIndex
    }

    /// How many bytes are left.
    private var left: Int { bytes.endIndex - place }

    /// The next integer.
    mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws(FrameError) -> Integer {
        let width = Integer.bitWidth / 8
        guard left >= width else { throw .cut }
        var value: Integer = 0
        for index in 0..<width { value |= Integer(truncatingIfNeeded: bytes[place + index]) << Integer(8 * index) }
        place += width
        return value
    }

    /// The next position: at least 0.
    mutating func position() throws(FrameError) -> Int64 {
        let position = try integer(Int64.self)
        guard position >= 0, position < .max else { throw .outOfRange }
        return position
    }

    /// The next partition's number: below `count`.
    mutating func partition(below count: Int) throws(FrameError) -> Int {
        let number = Int(try integer(UInt16.self))
        guard number < count else { throw .outOfRange }
        return number
    }

    /// The next count: at most `limit`.
    mutating func count(atMost limit: Int) throws(FrameError) -> Int {
        let count = Int(try integer(UInt32.self))
        guard count <= limit else { throw .outOfRange }
        return count
    }

    /// So many bytes.
    mutating func take(_ count: Int) throws(FrameError) -> [UInt8] {
        guard left >= count else { throw .cut }
        defer { place += count }
        return Array(bytes[place..<place + count])
    }

    /// Throws unless everything was read.
    func end() throws(FrameError) { if left > 0 { throw .cut } }
}
