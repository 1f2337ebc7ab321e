/// Whether a timer is suspended by itself.
public enum StopPolicy: UInt8, Sendable, CaseIterable {
    /// Once nobody follows its events any more; the next one who does resumes it.
    case subscriber = 1

    /// The name on the wire.
    public var name: StaticString { "subscriber" }
}
