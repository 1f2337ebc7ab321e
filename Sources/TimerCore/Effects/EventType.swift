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
