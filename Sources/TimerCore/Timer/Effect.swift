/// What happened to a timer, as its streams tell it.
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

    /// Whether its event shows the payload.
    public var showsPayload: Bool { self == .created || self == .updated || self == .fired }

    /// Whether its event tells when the next fire is planned.
    public var showsNextFire: Bool {
        switch self {
        case .created, .activated, .resumed, .rescheduled, .updated, .fired: true
        default: false
        }
    }

    /// Whether it tells what became of a delivery by webhook; such an event is itself never delivered.
    public var isDelivery: Bool { self == .delivered || self == .deliveryFailed || self == .deliveryDead }
}

/// A set of event types, a bit each by `EventType.rawValue`.
public struct EventTypes: OptionSet, Sendable, Hashable {
    /// The bits.
    public var rawValue: UInt32
    /// Makes a set of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The set of one type.
    public init(_ type: EventType) { rawValue = 1 << UInt32(type.rawValue) }
    /// Whether `type` is among them.
    public func contains(_ type: EventType) -> Bool { contains(EventTypes(type)) }
}

/// Why a timer fired, was suspended or was deleted, or a delivery is dead.
public enum EventReason: UInt8, Sendable, CaseIterable {
    case none = 0
    /// fired: its due instant came.
    case due = 1
    /// fired: the `fire` command.
    case manual = 2
    /// fired: a watchdog was not kicked.
    case stalled = 3
    /// fired: due instants passed while the fire loop stood still.
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
    /// deliveryDead: the receiver is gone for good (410).
    case gone = 10
    /// suspended: nobody followed its events any more.
    case unsubscribed = 11

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
        }
    }
}

/// What a fire says beside the timer itself.
public struct FireDetail: Sendable, Equatable {
    /// Nominal due instant, wall milliseconds.
    public var scheduledAt: Int64
    /// Microseconds from the nominal due instant to the fire.
    public var latenessUs: Int64
    /// Due instants this fire also stands for.
    public var missed: Int64

    /// Makes a detail; see the members.
    public init(scheduledAt: Int64, latenessUs: Int64, missed: Int64) {
        self.scheduledAt = scheduledAt
        self.latenessUs = latenessUs
        self.missed = missed
    }
}

/// One change a step brought about. The step's caller records it before the next step, then calls `finishStep`.
public struct Effect: Sendable, Equatable {
    /// What happened, as streams tell it; nil for a change that is recorded and told to nobody.
    public var type: EventType?
    /// Why, for `fired` and `deleted`, and for a `suspended` that no command brought about.
    public var reason: EventReason = .none
    /// Wall milliseconds of the step.
    public var at: Int64
    /// The timer, as an index into the table; a deleted one stays readable until `finishStep`.
    public var slot: SlotIndex
    /// The timer's progress right after this event.
    public var progress: TimerProgress
    /// The rest of a watchdog's progress; nil for other kinds.
    public var kicks: KickProgress?
    /// Set for `fired`.
    public var fire: FireDetail?
    /// Set for `recovered`: milliseconds from the first alarm to the kick.
    public var stalledFor: Int64?
    /// Set for `recovered`: milliseconds since the kick before, or since it was set going where there was none.
    public var silentFor: Int64?
    /// The wall instant, in milliseconds, at which the next fire is planned once the whole step is taken; nil for none.
    public var nextFireAt: Int64?
    /// Whether the timer's webhook is to be sent the event.
    public var owesDelivery = false
}

/// Why a command was refused. A refused command changed nothing.
public enum TimerRefusal: Error, Sendable, Equatable {
    /// No such timer.
    case notFound
    /// The id of a new timer is taken.
    case exists
    /// The table has no such step from this state.
    case illegalTransition(TimerCommand, state: TimerState, restartable: Bool, isWatchdog: Bool = false)
    /// Only DELETE and changes of other fields are legal on an ended timer.
    case illegalChange(state: TimerState, restartable: Bool, isWatchdog: Bool = false)
    /// `kick` is for watchdogs.
    case notAWatchdog(state: TimerState, restartable: Bool)
    /// The condition on the version does not hold; nil where there is no timer.
    case versionMismatch(current: Int64?)
    /// The schedule can never fire, or not within `until`; `pointer` names the field.
    case invalidSchedule(pointer: String, reason: String)
    /// As many timers as the server may hold.
    case timerLimit(Int)
}
