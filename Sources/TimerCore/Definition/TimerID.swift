import Primitives

/// A timer's name within its namespace, as clients write it: 1 to 128 bytes of `[A-Za-z0-9._~-]`.
///
/// A lower-case UUID, as the server makes it when the client gives no name, takes a mark and 16 bytes in its kept
/// form.
public enum TimerID {
    /// The most bytes a name can have.
    public static let maximumLength = 128

    /// Whether `text` can name a timer. `.`, `..` and the API's own path components can't.
    public static func isValid(_ text: Span<UInt8>) -> Bool {
        guard text.count >= 1 && text.count <= maximumLength else { return false }
        for index in text.indices where !isAllowed(text[index]) { return false }
        return !equals(text, ".") && !equals(text, "..") && !equals(text, "batch") && !equals(text, "bulk")
    }

    /// Whether `text` can name a timer.
    public static func isValid(_ text: [UInt8]) -> Bool { isValid(text.span) }

    /// Whether names can begin with `text`, which is not empty.
    public static func isPrefix(_ text: [UInt8]) -> Bool {
        text.count <= maximumLength && text.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        Alphanumeric.contains(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "~") || byte == UInt8(ascii: "-")
    }

    private static func equals(_ text: Span<UInt8>, _ word: StaticString) -> Bool {
        text.count == word.utf8CodeUnitCount && "\(word)".utf8.enumerated().allSatisfy { text[$0.offset] == $0.element }
    }

    static let uuidMark: UInt8 = 0xFF
    /// The bytes of a UUID's kept form.
    private static let uuidCount = 17

    /// Appends the kept form of `text`: a mark and 16 bytes for a UUID, else the length and the bytes.
    public static func appendKept(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
        if let uuid = UUIDText.read(text) {
            bytes.append(addingCapacity: uuidCount) { output in
                output.append(uuidMark)
                append(uuid.high, to: &output)
                append(uuid.low, to: &output)
            }
        } else {
            bytes.append(UInt8(text.count))
            bytes.append(copying: text)
        }
    }

    /// Appends the text of the kept form `kept` (which starts at its mark or length), at most ``maximumLength`` bytes.
    static func appendText(kept: Span<UInt8>, to text: inout OutputSpan<UInt8>) {
        guard kept[0] == uuidMark else {
            for index in 1..<kept.count { text.append(kept[index]) }
            return
        }
        UUIDText.append(high: word(kept, at: 1), low: word(kept, at: 9), to: &text)
    }

    /// Reads the text of the kept form at `offset` and moves `offset` past it; nil when there can be none.
    public static func readKept(_ bytes: Span<UInt8>, _ offset: inout Int) -> [UInt8]? {
        guard let count = keptCount(bytes, at: offset) else { return nil }
        var text: [UInt8] = []
        text.append(addingCapacity: maximumLength) {
            appendText(kept: bytes.extracting(offset..<offset + count), to: &$0)
        }
        offset += count
        return text
    }

    @inline(__always)
    private static func append(_ word: UInt64, to bytes: inout OutputSpan<UInt8>) {
        for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word.byteSwapped >> UInt64(8 * byte))) }
    }

    private static func word(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 << 8 | UInt64(bytes[offset + $1]) }
    }

    /// Returns how many bytes the kept form at `offset` takes, its mark or length included; nil when there can be
    /// none.
    static func keptCount(_ bytes: Span<UInt8>, at offset: Int) -> Int? {
        guard offset < bytes.count else { return nil }
        let mark = bytes[offset]
        let count = mark == uuidMark ? uuidCount : 1 + Int(mark)
        guard count > 1, count <= 1 + maximumLength, offset + count <= bytes.count else { return nil }
        return count
    }
}
