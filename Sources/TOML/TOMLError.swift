/// Why a text is not TOML.
public struct TOMLError: Error, Sendable, Equatable {
    /// The line, from 1.
    public var line: Int
    /// The fault on that line.
    public var message: String
}
