/// Why a text was refused as an instant or a duration.
public struct TextError: Error, Equatable, Sendable {
    /// The fault, and what to write instead: a sentence without a full stop, for a person to read.
    public var message: String

    /// An error with `message`.
    public init(message: String) { self.message = message }
}
