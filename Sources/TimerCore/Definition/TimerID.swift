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

/// The canonical, lower-case text of a UUID, handled eight digits at a time in one word: the name of every timer
/// that the server names is read and written here.
enum UUIDText {
    private static let count = 36
    private static let hyphen = UInt8(ascii: "-")

    /// Reads the bits of a UUID; nil if `text` is none, or not in this form.
    static func read(_ text: Span<UInt8>) -> (high: UInt64, low: UInt64)? {
        guard text.count == count, text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen,
            let first = bits(of: half(text, at: 0) | half(text, at: 4) << 32),
            let second = bits(of: half(text, at: 9) | half(text, at: 14) << 32),
            let third = bits(of: half(text, at: 19) | half(text, at: 24) << 32),
            let fourth = bits(of: half(text, at: 28) | half(text, at: 32) << 32)
        else { return nil }
        return (UInt64(first) << 32 | UInt64(second), UInt64(third) << 32 | UInt64(fourth))
    }

    /// Appends the text of the UUID of these bits.
    static func append(high: UInt64, low: UInt64, to text: inout OutputSpan<UInt8>) {
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

    @inline(__always)
    private static func append(_ digits: UInt64, _ count: Int, to text: inout OutputSpan<UInt8>) {
        for index in 0..<count { text.append(UInt8(truncatingIfNeeded: digits >> UInt64(8 * index))) }
    }

    private static func half(_ text: Span<UInt8>, at offset: Int) -> UInt64 {
        UInt64(text[offset]) | UInt64(text[offset + 1]) << 8 | UInt64(text[offset + 2]) << 16
            | UInt64(text[offset + 3]) << 24
    }

    /// Reads eight digits, the first one in the lowest byte; nil unless all are lower-case hexadecimal digits.
    private static func bits(of digits: UInt64) -> UInt32? {
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
    private static func digits(of bits: UInt32) -> UInt64 {
        var digits = UInt64(bits.byteSwapped)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits >> 4 | digits << 8) & 0x0F0F_0F0F_0F0F_0F0F
        let isLetter = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27
    }
}
