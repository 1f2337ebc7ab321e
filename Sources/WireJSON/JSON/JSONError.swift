/// Why a text was refused as JSON.
public struct JSONError: Error, Equatable, Sendable {
    /// RFC 6901 pointer to the innermost value that was being read, `""` for the whole text.
    public var pointer: String
    /// The byte at which reading stopped, counted from the start of the text that was to be read.
    public var offset: Int
    /// The fault in a few lower-case words, such as `duplicate key`.
    public var message: String

    /// An error at `pointer` and `offset`.
    public init(pointer: String, offset: Int, message: String) {
        self.pointer = pointer
        self.offset = offset
        self.message = message
    }
}
