/// The event that suspends a timer without a command.
public enum StopPolicy: UInt8, Sendable, CaseIterable {
    /// The last subscriber has left; the next one resumes the timer.
    case subscriber = 1

    /// The name on the wire.
    public var name: StaticString { "subscriber" }
}
