/// What a repeating timer counts its next fire from.
public enum RepeatMode: UInt8, Sendable, CaseIterable {
    /// The grid: fires stay on it however late one was.
    case fixedRate = 0
    /// The fire before.
    case fixedDelay = 1

    /// The name on the wire.
    public var name: StaticString { self == .fixedRate ? "fixedRate" : "fixedDelay" }
}
