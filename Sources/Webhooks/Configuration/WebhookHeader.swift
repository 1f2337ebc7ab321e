/// A header line's name and value.
public struct WebhookHeader: Sendable, Equatable {
    /// The name as it is sent.
    public var name: String
    /// The value as it is sent; may be empty.
    public var value: String

    /// Makes a line of `name` and `value`.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
