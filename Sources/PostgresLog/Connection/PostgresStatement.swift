/// A statement that each connection prepares when it first runs it.
public struct PostgresStatement: Sendable {
    /// Its name on the server: another for another text.
    public let name: String
    /// The text, with parameters `$1`, `$2`….
    public let text: String

    /// Makes a statement; see the members.
    public init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}
