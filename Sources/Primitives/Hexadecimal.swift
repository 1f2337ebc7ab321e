/// Hexadecimal digits.
public enum Hexadecimal {
    /// The value of a digit in either case, or nil.
    @inlinable @inline(__always)
    public static func value(_ byte: UInt8) -> UInt8? {
        let digit = byte &- UInt8(ascii: "0")
        if digit < 10 { return digit }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }

    /// The lower-case digit of the low four bits of `value`.
    @inlinable @inline(__always)
    public static func digit(_ value: UInt8) -> UInt8 {
        let low = value & 15
        return low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") - 10 + low
    }

    /// Returns the text of `words`: 16 lower-case digits for each, so that other words have another text.
    public static func text(_ words: [UInt64]) -> String {
        words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Reads a word; nil unless `text` is 16 lower-case digits.
    public static func word(_ text: some Collection<UInt8>) -> UInt64? {
        guard text.count == 16 else { return nil }
        var word: UInt64 = 0
        for byte in text {
            // Capital letters lack the bit 0x20, which digits and small letters have.
            guard byte & 0x20 != 0, let digit = value(byte) else { return nil }
            word = word << 4 | UInt64(digit)
        }
        return word
    }

    /// Returns `text` with `%` and two upper-case digits for each byte that is not plain.
    public static func percentEncoded(_ text: some Sequence<UInt8>, unless isPlain: (UInt8) -> Bool) -> String {
        var encoded = ""
        for byte in text {
            if isPlain(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
