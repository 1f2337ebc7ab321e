/// Whether creating a timer starts it.
public enum StartPolicy: UInt8, Sendable, CaseIterable {
    /// The timer runs from the start.
    case now = 0
    /// The timer is idle until it is activated.
    case manual = 1
    /// The timer is idle until its first subscriber comes.
    case subscriber = 2

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .now: "now"
        case .manual: "manual"
        case .subscriber: "subscriber"
        }
    }
}
