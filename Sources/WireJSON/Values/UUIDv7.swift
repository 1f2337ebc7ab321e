import Primitives

/// UUIDs that sort by time, RFC 9562 section 5.7.
public enum UUIDv7 {
    /// The number of bytes of the text.
    public static let count = UUIDText.count

    /// Appends a UUID of version 7 in its canonical form: ``count`` bytes, lower case.
    /// - Parameters:
    ///   - milliseconds: since 1970; the low 48 bits are used.
    ///   - random: 74 bits of these are used: the low 12 of the first and the low 62 of the second.
    ///   - output: what the text is appended to.
    public static func append(milliseconds: Int64, random: (UInt64, UInt64), to output: inout [UInt8]) {
        let high = UInt64(bitPattern: milliseconds) << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
        output.append(addingCapacity: count) { UUIDText.append(high: high, low: low, to: &$0) }
    }
}
