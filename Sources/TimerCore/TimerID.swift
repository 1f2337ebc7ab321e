/// A timer's name within its namespace, as clients write it: 1 to 128 bytes of `[A-Za-z0-9._~-]`.
///
/// A lower-case UUID, which the server makes when the client gives no name, takes 16 bytes where it is kept.
public enum TimerID {
    /// Most bytes a name can have.
    public static let maximumLength = 128

    /// Whether `text` can name a timer. Names that are path components of the API's own can't.
    public static func isValid(_ text: Span<UInt8>) -> Bool {
        guard text.count >= 1 && text.count <= maximumLength else { return false }
        for index in text.indices where !isAllowed(text[index]) { return false }
        return !equals(text, ".") && !equals(text, "..") && !equals(text, "batch") && !equals(text, "bulk")
    }

    /// As above.
    public static func isValid(_ text: [UInt8]) -> Bool { isValid(text.span) }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func equals(_ text: Span<UInt8>, _ word: StaticString) -> Bool {
        text.count == word.utf8CodeUnitCount && "\(word)".utf8.enumerated().allSatisfy { text[$0.offset] == $0.element }
    }

    static let uuidMark: UInt8 = 0xFF
    private static let uuidLength = 36

    /// Appends the kept form of `text`: a mark and 16 bytes for a UUID, else the length and the bytes.
    static func appendKept(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
        if text.count == uuidLength, let (high, low) = uuid(text) {
            bytes.append(uuidMark)
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: high >> shift)) }
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: low >> shift)) }
            return
        }
        bytes.append(UInt8(text.count))
        for index in text.indices { bytes.append(text[index]) }
    }

    /// Appends the text of the kept form `kept` (which starts at its mark or length).
    static func appendText(kept: Span<UInt8>, to bytes: inout [UInt8]) {
        let isUUID = kept[0] == uuidMark
        for index in 1..<kept.count {
            guard isUUID else {
                bytes.append(kept[index])
                continue
            }
            if index == 5 || index == 7 || index == 9 || index == 11 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(hexDigit(kept[index] >> 4))
            bytes.append(hexDigit(kept[index] & 15))
        }
    }

    /// How many bytes the kept form at `offset` takes, its mark or length included; nil when it can't be one.
    static func keptCount(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
        guard offset < bytes.count else { return nil }
        let mark = bytes[offset]
        let count = mark == uuidMark ? 17 : 1 + Int(mark)
        guard count > 1, count <= 1 + maximumLength, offset + count <= bytes.count else { return nil }
        return count
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    private static func uuid(_ text: Span<UInt8>) -> (UInt64, UInt64)? {
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for index in text.indices {
            let byte = text[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(value)
            } else {
                halves.1 = halves.1 << 4 | UInt64(value)
            }
            digits += 1
        }
        return halves
    }
}
