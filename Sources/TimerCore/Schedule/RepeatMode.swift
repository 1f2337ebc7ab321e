/// The instant that a repeating timer counts its next fire from.
public enum RepeatMode: UInt8, Sendable, CaseIterable {
    /// The due instant before: fires stay on the grid, however late one was.
    case fixedRate = 0
    /// The fire before.
    case fixedDelay = 1

    /// The name on the wire.
    public var name: StaticString { self == .fixedRate ? "fixedRate" : "fixedDelay" }
}
