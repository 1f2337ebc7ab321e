/// Base64 of the usual alphabet (RFC 4648 section 4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// Returns `bytes` as text, padded.
    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        let alphabet = alphabet
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var bits: UInt32 = 0
            for place in 0..<3 { bits = bits << 8 | (place < count ? UInt32(bytes[start + place]) : 0) }
            for place in 0..<4 {
                text.append(place <= count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes that `text` stands for; nil where it is no base64.
    ///
    /// Padding may be missing but not wrong, and the bits that are left over must be 0: two texts that differ in more
    /// than padding never stand for the same bytes.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var digits = 0
        var pads = 0
        for byte in text {
            if byte == padding {
                pads += 1
                continue
            }
            guard pads == 0, let digit = value(byte) else { return nil }
            bits = bits << 6 | digit
            digits += 1
            if digits % 4 != 1 { bytes.append(UInt8(truncatingIfNeeded: bits >> leftOver(digits))) }
        }
        guard digits % 4 != 1, bits & ((1 << leftOver(digits)) - 1) == 0 else { return nil }
        return pads == 0 || pads == (4 - digits % 4) % 4 ? bytes : nil
    }

    /// Returns the number of bits after the last whole byte of `digits` digits.
    private static func leftOver(_ digits: Int) -> UInt32 { UInt32(6 * digits % 8) }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
