/// An entry of a table.
public struct TOMLEntry: Sendable, Equatable {
    /// The key.
    public var key: String
    /// The line that the key is on, from 1.
    public var line: Int
    /// The value.
    public var value: TOMLValue
}
