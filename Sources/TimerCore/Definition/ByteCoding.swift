import Primitives

/// Integers of variable length (LEB128, seven bits a byte, low bits first) and their signed form (zigzag): the coding
/// of definitions and of log records.
public enum ByteCoding {
    /// The most bytes of a number.
    public static let most = 10

    /// Appends `value` in one to ten bytes.
    @inlinable
    public static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        if value < 0x80 { return bytes.append(UInt8(truncatingIfNeeded: value)) }
        bytes.append(addingCapacity: most) { append(value, to: &$0) }
    }

    /// Appends `value` where there is room for `most` bytes.
    @inlinable @inline(__always)
    public static func append(_ value: UInt64, to bytes: inout OutputSpan<UInt8>) {
        if value < 0x80 { return bytes.append(UInt8(truncatingIfNeeded: value)) }
        guard value < 1 << 56 else { return appendLong(value, to: &bytes) }
        let count = (70 - value.leadingZeroBitCount) / 7
        // The top bit of every byte but the last is set: another byte follows.
        let following: UInt64 = 0x8080_8080_8080_8080 & (1 << UInt64(8 * (count - 1)) - 1)
        append(word: spread(value) | following, count: count, to: &bytes)
    }

    @usableFromInline
    static func appendLong(_ value: UInt64, to bytes: inout OutputSpan<UInt8>) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends the `count` low bytes of `word`, the lowest first, where there is room for eight.
    @inlinable @inline(__always)
    public static func append(word: UInt64, count: Int, to bytes: inout OutputSpan<UInt8>) {
        precondition(bytes.freeCapacity >= 8, "the room was counted before")
        unsafe bytes.withUnsafeMutableBufferPointer { room, initialized in
            unsafe UnsafeMutableRawBufferPointer(room)
                .storeBytes(of: word.littleEndian, toByteOffset: initialized, as: UInt64.self)
            initialized += count
        }
    }

    /// Puts the 56 low bits into the seven low bits of eight bytes.
    @inlinable @inline(__always)
    static func spread(_ value: UInt64) -> UInt64 {
        var word = value & 0x0FFF_FFFF | (value & 0xFF_FFFF_F000_0000) << 4
        word = word & 0x0000_3FFF_0000_3FFF | (word & 0x0FFF_C000_0FFF_C000) << 2
        return word & 0x007F_007F_007F_007F | (word & 0x3F80_3F80_3F80_3F80) << 1
    }

    /// Undoes `spread`; the highest bit of each byte is ignored.
    @inline(__always)
    private static func gather(_ word: UInt64) -> UInt64 {
        var value = word & 0x007F_007F_007F_007F | (word & 0x7F00_7F00_7F00_7F00) >> 1
        value = value & 0x0000_3FFF_0000_3FFF | (value & 0x3FFF_0000_3FFF_0000) >> 2
        return value & 0x0FFF_FFFF | (value & 0x0FFF_FFFF_0000_0000) >> 4
    }

    /// Appends `value` so that small magnitudes of either sign are short.
    @inlinable
    public static func append(signed value: Int64, to bytes: inout [UInt8]) {
        append(UInt64(bitPattern: (value << 1) ^ (value >> 63)), to: &bytes)
    }

    /// Appends `value` so that small magnitudes of either sign are short, where there is room for `most` bytes.
    @inlinable @inline(__always)
    public static func append(signed value: Int64, to bytes: inout OutputSpan<UInt8>) {
        append(UInt64(bitPattern: (value << 1) ^ (value >> 63)), to: &bytes)
    }

    /// Reads what `append` wrote at `offset` and moves `offset` past it; nil when the number is cut short or over
    /// 64 bits.
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
        if bytes.count - offset >= 8 {
            let word = load(bytes, offset)
            let last = ~word & 0x8080_8080_8080_8080
            if last != 0 {
                let count = last.trailingZeroBitCount / 8 + 1
                offset += count
                return gather(word & (.max >> UInt64(64 - 8 * count)))
            }
        }
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
        if count == 8 {
            offset += 8
            return load(bytes, offset - 8)
        }
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        offset += count
        return value
    }

    /// Reads the eight bytes at `offset`, which are there, as one little-endian number.
    @inlinable @inline(__always)
    static func load(_ bytes: Span<UInt8>, _ offset: Int) -> UInt64 {
        let part = bytes.extracting(offset..<offset + 8)
        return unsafe part.withUnsafeBytes { unsafe UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    /// Appends the length of `run`, then `run`.
    public static func append(run: some Collection<UInt8>, to bytes: inout [UInt8]) {
        append(UInt64(run.count), to: &bytes)
        bytes += run
    }

    /// Reads what `append(run:)` wrote.
    public static func readRun(_ bytes: Span<UInt8>, _ offset: inout Int) -> [UInt8]? {
        guard let count = read(bytes, &offset), count <= UInt64(bytes.count - offset) else { return nil }
        var run: [UInt8] = []
        run.append(copying: bytes.extracting(offset..<offset + Int(count)))
        offset += Int(count)
        return run
    }

    /// Appends ascending instants as one run: the first, and the steps to the others.
    static func append(instants: [Int64], to bytes: inout [UInt8]) {
        var run: [UInt8] = []
        var last: Int64 = 0
        for instant in instants {
            append(signed: instant - last, to: &run)
            last = instant
        }
        append(run: run, to: &bytes)
    }

    /// Returns the instants of a run that `append(instants:)` wrote; nil for more than `limit`, and for instants that do not
    /// ascend or are beyond the year 9999.
    static func instants(_ run: Span<UInt8>, atMost limit: Int) -> [Int64]? {
        var instants: [Int64] = []
        var offset = 0
        while offset < run.count {
            guard let step = readSigned(run, &offset), (-2 * lastInstant...2 * lastInstant).contains(step),
                instants.isEmpty || step > 0, instants.count < limit
            else { return nil }
            let instant = (instants.last ?? 0) + step
            guard (-lastInstant...lastInstant).contains(instant) else { return nil }
            instants.append(instant)
        }
        return instants
    }
}
