/// When a timer is suspended without a command.
public enum StopPolicy: UInt8, Sendable, CaseIterable {
    /// Once its last subscriber has left; the next one resumes it.
    case subscriber = 1

    /// The name on the wire.
    public var name: StaticString { "subscriber" }
}
