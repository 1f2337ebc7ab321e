/// Why the server can't listen; one line that names the address.
public struct ListenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
