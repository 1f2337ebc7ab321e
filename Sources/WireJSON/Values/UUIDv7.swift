/// UUIDs that sort by time, RFC 9562 section 5.7.
public enum UUIDv7 {
    /// The number of bytes of the text.
    public static let count = 36

    /// Appends a UUID of version 7 in its canonical form: ``count`` bytes, lower case.
    /// - Parameters:
    ///   - milliseconds: since 1970; the low 48 bits are used.
    ///   - random: 74 bits of these are used: the low 12 of the first and the low 62 of the second.
    ///   - output: what the text is appended to.
    public static func append(milliseconds: Int64, random: (UInt64, UInt64), to output: inout [UInt8]) {
        let high = UInt64(bitPattern: milliseconds) << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
        output.append(addingCapacity: count) { text in
            text.append(digits: high >> 32, count: 8)
            text.append(ASCII.minus)
            text.append(digits: high >> 16, count: 4)
            text.append(ASCII.minus)
            text.append(digits: high, count: 4)
            text.append(ASCII.minus)
            text.append(digits: low >> 48, count: 4)
            text.append(ASCII.minus)
            text.append(digits: low, count: 12)
        }
    }
}
