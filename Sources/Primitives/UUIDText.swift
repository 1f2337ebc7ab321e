/// The canonical, lower-case text of a UUID, handled eight digits at a time in one word.
public enum UUIDText {
    /// The number of bytes of the text.
    @inlinable public static var count: Int { 36 }
    @inlinable static var hyphen: UInt8 { UInt8(ascii: "-") }

    /// Reads the bits of a UUID; nil if `text` is none, or not in this form.
    @inlinable
    public static func read(_ text: Span<UInt8>) -> (high: UInt64, low: UInt64)? {
        guard text.count == count, text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen,
            let first = bits(of: half(text, at: 0) | half(text, at: 4) << 32),
            let second = bits(of: half(text, at: 9) | half(text, at: 14) << 32),
            let third = bits(of: half(text, at: 19) | half(text, at: 24) << 32),
            let fourth = bits(of: half(text, at: 28) | half(text, at: 32) << 32)
        else { return nil }
        return (UInt64(first) << 32 | UInt64(second), UInt64(third) << 32 | UInt64(fourth))
    }

    /// Appends the text of the UUID of these bits.
    @inlinable
    public static func append(high: UInt64, low: UInt64, to text: inout OutputSpan<UInt8>) {
        append(digits(of: UInt32(truncatingIfNeeded: high >> 32)), 8, to: &text)
        text.append(hyphen)
        let second = digits(of: UInt32(truncatingIfNeeded: high))
        append(second, 4, to: &text)
        text.append(hyphen)
        append(second >> 32, 4, to: &text)
        text.append(hyphen)
        let third = digits(of: UInt32(truncatingIfNeeded: low >> 32))
        append(third, 4, to: &text)
        text.append(hyphen)
        append(third >> 32, 4, to: &text)
        append(digits(of: UInt32(truncatingIfNeeded: low)), 8, to: &text)
    }

    @inlinable @inline(__always)
    static func append(_ digits: UInt64, _ count: Int, to text: inout OutputSpan<UInt8>) {
        for index in 0..<count { text.append(UInt8(truncatingIfNeeded: digits >> UInt64(8 * index))) }
    }

    @inlinable
    static func half(_ text: Span<UInt8>, at offset: Int) -> UInt64 {
        UInt64(text[offset]) | UInt64(text[offset + 1]) << 8 | UInt64(text[offset + 2]) << 16
            | UInt64(text[offset + 3]) << 24
    }

    /// Reads eight digits, the first one in the lowest byte; nil unless all are lower-case hexadecimal digits.
    @inlinable
    static func bits(of digits: UInt64) -> UInt32? {
        // `a` to `f` have a bit that `0` to `9` lack.
        let isLetter = digits >> 6 & 0x0101_0101_0101_0101
        var bits = (digits & 0x0F0F_0F0F_0F0F_0F0F) &+ 9 &* isLetter
        guard bits & 0xF0F0_F0F0_F0F0_F0F0 == 0 else { return nil }
        bits = (bits << 4 | bits >> 8) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits >> 8) & 0x0000_FFFF_0000_FFFF
        let value = UInt32(truncatingIfNeeded: bits | bits >> 16).byteSwapped
        return Self.digits(of: value) == digits ? value : nil
    }

    /// Returns the eight digits of `bits`, the first one in the lowest byte.
    @inlinable
    static func digits(of bits: UInt32) -> UInt64 {
        var digits = UInt64(bits.byteSwapped)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits >> 4 | digits << 8) & 0x0F0F_0F0F_0F0F_0F0F
        let isLetter = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27
    }
}
