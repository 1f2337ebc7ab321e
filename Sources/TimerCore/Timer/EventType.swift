/// The type of an event, as event streams name it.
public enum EventType: UInt8, Sendable, CaseIterable {
    case created = 1
    case activated = 2
    case suspended = 3
    case resumed = 4
    case rescheduled = 5
    case updated = 6
    case fired = 7
    case recovered = 8
    case cancelled = 9
    case completed = 10
    case deleted = 11
    case delivered = 12
    case deliveryFailed = 13
    case deliveryDead = 14

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .created: "created"
        case .activated: "activated"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .rescheduled: "rescheduled"
        case .updated: "updated"
        case .fired: "fired"
        case .recovered: "recovered"
        case .cancelled: "cancelled"
        case .completed: "completed"
        case .deleted: "deleted"
        case .delivered: "delivered"
        case .deliveryFailed: "deliveryFailed"
        case .deliveryDead: "deliveryDead"
        }
    }

    /// Whether the event shows the payload.
    public var showsPayload: Bool { self == .created || self == .updated || self == .fired }

    /// Whether the event shows the next planned fire.
    public var showsNextFire: Bool {
        switch self {
        case .created, .activated, .resumed, .rescheduled, .updated, .fired: true
        default: false
        }
    }

    /// Whether the event reports the outcome of a delivery by webhook; such an event is itself never delivered.
    public var isDelivery: Bool { self == .delivered || self == .deliveryFailed || self == .deliveryDead }
}

/// A set of event types, a bit each by `EventType.rawValue`.
public struct EventTypes: OptionSet, Sendable, Hashable {
    /// The bits.
    public var rawValue: UInt32
    /// Makes a set of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Makes the set of one type.
    public init(_ type: EventType) { rawValue = 1 << UInt32(type.rawValue) }
    /// Whether `type` is in the set.
    public func contains(_ type: EventType) -> Bool { contains(EventTypes(type)) }
}

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
    /// rescheduled: the timer's calendar changed.
    case calendar = 15

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
        case .calendar: "calendar"
        }
    }
}
