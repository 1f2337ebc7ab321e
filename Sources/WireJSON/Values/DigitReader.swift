/// Reads digits and single characters from the front of a short text.
struct DigitReader {
    private let bytes: [UInt8]
    private let end: Int
    private(set) var position: Int

    /// A reader at the start of the text in `range` of `bytes`.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        end = range.upperBound
        position = range.lowerBound
    }

    var isAtEnd: Bool { position == end }

    /// The next byte, which stays to be read.
    var next: UInt8? { position < end ? bytes[position] : nil }

    /// The value of exactly `digits` digits.
    mutating func number(_ digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The value of the next byte, if it is a digit.
    mutating func digit() -> Int64? {
        guard let byte = next, ASCII.isDigit(byte) else { return nil }
        position += 1
        return Int64(byte &- ASCII.zero)
    }

    /// Skips `byte` if it comes next.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Skips a letter given in lower case if it comes next in either case.
    mutating func skip(letter: UInt8) -> Bool {
        guard let byte = next, byte | 0x20 == letter else { return false }
        position += 1
        return true
    }
}

/// Why a text was refused as an instant or a duration.
public struct TextError: Error, Equatable, Sendable {
    /// The fault, and what to write instead: a sentence without a full stop, for a person to read.
    public var message: String

    /// An error with `message`.
    public init(message: String) { self.message = message }
}
