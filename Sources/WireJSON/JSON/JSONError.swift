/// Why a text was refused as JSON.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// RFC 6901 pointer to the innermost value that was being read, `""` for the whole text.
    public var pointer: String
    /// The byte at which reading stopped, counted from the start of the text that was to be read.
    public var offset: Int
    /// The fault in a few lower-case words, such as `duplicate key`.
    public var message: String
    /// The fault and its place: `duplicate key at byte 9`.
    public var description: String { "\(message) at byte \(offset)" }

    /// An error at `pointer` and `offset`.
    public init(pointer: String, offset: Int, message: String) {
        self.pointer = pointer
        self.offset = offset
        self.message = message
    }
}

/// The fault of a text, in the words of ``JSONError/message``.
enum JSONReason: String {
    case empty = "empty text"
    case byteOrderMark = "byte order mark"
    case tooLong = "text over 4 GiB"
    case tooDeep = "nesting over"
    case trailingBytes = "trailing bytes"
    case unexpectedEnd = "unexpected end"
    case expectedValue = "expected a value"
    case expectedKey = "expected a key in quotes"
    case expectedColon = "expected a colon"
    case expectedCommaOrBrace = "expected a comma or }"
    case expectedCommaOrBracket = "expected a comma or ]"
    case duplicateKey = "duplicate key"
    case invalidNumber = "invalid number"
    case controlCharacter = "control character in a string"
    case invalidUTF8 = "invalid UTF-8"
    case invalidEscape = "invalid escape"
    case loneSurrogate = "lone surrogate escape"

    /// Returns the words for a text in which containers may be nested `maximumDepth` deep.
    func message(maximumDepth: Int) -> String { self == .tooDeep ? "\(rawValue) \(maximumDepth)" : rawValue }
}

/// The parser's error, which has no pointer yet.
struct JSONFailure: Error {
    /// The byte at fault, counted in the array, not in the text: the two differ when one line of a batch is read.
    var offset: Int
    var reason: JSONReason
}
