/// The client whose request made an event, as the event names it: the id of a key, or `token`.
public struct Actor: Sendable, Hashable {
    /// The most bytes of a name.
    public static let mostBytes = 32
    /// The clients with a token of the server's token file. All tokens have the same rights and the same name.
    public static let token = Actor(name: Array("token".utf8))

    /// The name: 1 to `mostBytes` visible characters of ASCII.
    public let name: [UInt8]

    private init(name: [UInt8]) { self.name = name }

    /// Makes the actor of that name; nil where no actor may have it.
    public init?(_ name: [UInt8]) {
        guard Self.isName(name.span) else { return nil }
        self.name = name
    }

    /// Whether an actor may have that name.
    public static func isName(_ name: Span<UInt8>) -> Bool {
        guard (1...mostBytes).contains(name.count) else { return false }
        for index in name.indices where !(0x21...0x7E).contains(name[index]) { return false }
        return true
    }
}
