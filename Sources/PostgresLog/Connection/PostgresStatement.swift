/// A statement that each connection prepares when it first runs it.
public struct PostgresStatement: Sendable {
    /// The name on the server; each text has a name of its own.
    public let name: String
    /// The text, with parameters `$1`, `$2`….
    public let text: String

    /// Makes a statement; see the members.
    public init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}
