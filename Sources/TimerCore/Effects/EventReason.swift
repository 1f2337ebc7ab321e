/// The reason a timer fired, was suspended, was deleted or was imported, or a delivery is dead.
public enum EventReason: UInt8, Sendable, CaseIterable {
    case none = 0
    /// fired: its due instant came.
    case due = 1
    /// fired: the `fire` command.
    case manual = 2
    /// fired: a watchdog was not kicked.
    case stalled = 3
    /// fired: due instants passed while the fire loop was stalled, or a step of the calendar skipped them.
    case misfire = 4
    /// fired: due instants fell into a pause.
    case resumed = 5
    /// deleted: a client asked.
    case request = 6
    /// deleted: kept for its `retain` after it ended.
    case expired = 7
    /// deliveryDead: its last attempt failed.
    case attempts = 8
    /// deliveryDead: too many deliveries were pending.
    case backlog = 9
    /// deliveryDead: the receiver answered that it is gone (410).
    case gone = 10
    /// suspended: its last subscriber left.
    case unsubscribed = 11
    /// created, updated: the timer came from another server, as it was there.
    case imported = 12
    /// deliveryDead: the receiver's status is one of `giveUpOn`.
    case status = 13
    /// deliveryDead: the delivery is older than `maxAge`.
    case age = 14

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .none: ""
        case .due: "due"
        case .manual: "manual"
        case .stalled: "stalled"
        case .misfire: "misfire"
        case .resumed: "resumed"
        case .request: "request"
        case .expired: "expired"
        case .attempts: "attempts"
        case .backlog: "backlog"
        case .gone: "gone"
        case .unsubscribed: "unsubscribed"
        case .imported: "imported"
        case .status: "status"
        case .age: "age"
        }
    }
}
