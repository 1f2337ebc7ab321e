/// Integers of variable length (LEB128, seven bits a byte, low bits first) and their signed form (zigzag): the coding
/// of definitions and of log records.
public enum ByteCoding {
    /// Appends `value` in one to ten bytes.
    @inlinable
    public static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        if value < 0x80 { return bytes.append(UInt8(truncatingIfNeeded: value)) }
        bytes.append(addingCapacity: 10) { coded in
            var rest = value
            while rest >= 0x80 {
                coded.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            coded.append(UInt8(truncatingIfNeeded: rest))
        }
    }

    /// Appends `value` so that small magnitudes of either sign are short.
    @inlinable
    public static func append(signed value: Int64, to bytes: inout [UInt8]) {
        append(UInt64(bitPattern: (value << 1) ^ (value >> 63)), to: &bytes)
    }

    /// Reads what `append` wrote at `offset` and moves it on; nil when it is cut short or over 64 bits.
    @inlinable @inline(__always)
    public static func read(_ bytes: Span<UInt8>, _ offset: inout Int) -> UInt64? {
        // Most numbers are one byte long.
        if offset < bytes.count, bytes[offset] < 0x80 {
            offset += 1
            return UInt64(bytes[offset - 1])
        }
        return readLong(bytes, &offset)
    }

    @usableFromInline
    static func readLong(_ bytes: Span<UInt8>, _ offset: inout Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count && shift < 70 {
            let byte = bytes[offset]
            offset += 1
            if shift == 63 && byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    /// Reads what `append(signed:)` wrote.
    @inlinable
    public static func readSigned(_ bytes: Span<UInt8>, _ offset: inout Int) -> Int64? {
        guard let value = read(bytes, &offset) else { return nil }
        return Int64(bitPattern: (value >> 1) ^ (0 &- (value & 1)))
    }

    /// Reads `count` bytes as one little-endian number.
    @inlinable @inline(__always)
    public static func readFixed(_ bytes: Span<UInt8>, _ offset: inout Int, count: Int) -> UInt64? {
        guard offset + count <= bytes.count else { return nil }
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        offset += count
        return value
    }

    /// Appends `run` behind its length.
    public static func append(run: some Collection<UInt8>, to bytes: inout [UInt8]) {
        append(UInt64(run.count), to: &bytes)
        bytes += run
    }

    /// Reads what `append(run:)` wrote.
    public static func readRun(_ bytes: Span<UInt8>, _ offset: inout Int) -> [UInt8]? {
        guard let count = read(bytes, &offset), count <= UInt64(bytes.count - offset) else { return nil }
        var run: [UInt8] = []
        Definition.append(bytes.extracting(offset..<offset + Int(count)), to: &run)
        offset += Int(count)
        return run
    }
}
