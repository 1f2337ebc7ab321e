public import TimerCore

/// One record of the log, decoded. Records are results, never commands: folding them decides nothing.
public struct LogRecord: Sendable, Equatable {
    /// The content of a record.
    public enum Content: Sendable, Equatable {
        /// An event of a timer.
        case event(EventType, EventReason, FireDetail?)
        /// The state of a timer, written again so that older rows can be deleted; `lastEvent` is the position of
        /// its newest event.
        case snapshot(lastEvent: Int64)
        /// The answer to a request with an idempotency key, or a part of it.
        case answer(StoredAnswer)
        /// A kick of a watchdog: the top half of the hash of its name, and the position of the record that holds
        /// its definition.
        case kick(hash: UInt32, base: Int64)
        /// The place of removed kicks; records up to the position `restingOn` hold what still counts of them.
        case condensed(restingOn: Int64)
        /// The state of a delivery: changed by a client or, with its event, written again so that older rows can be
        /// deleted. Its slot says only whether it belongs to a timer.
        indirect case delivery(DeliveryDetail, event: LogRecord?)
        /// The definition of a deleted timer as it was then: the deliveries that outlived the timer are sent by it.
        case will(takesDeliveries: Bool)
        /// The greatest version of deleted timers: new timers start above it.
        case versionFloor(Int64)
        /// The bound of what may have been shown although the log does not hold it; the newest one counts.
        case mark(HighWaterMark)
        /// Fires, webhooks and changes are stopped from here on, or allowed again, as a client asked.
        case drain(isDrained: Bool, by: Actor?)
        /// The progress of an import.
        case importProgress(ImportProgress)
        /// An access key as it is from here on, nil where it is revoked, and the principal that changed it.
        indirect case key(KeyID, AccessKey?, by: KeyGrantor)
        /// A calendar as it is from here on.
        indirect case calendar(NamedCalendar)
        /// The deletion of a calendar: the last version that it had, and the client that deleted it.
        case deletedCalendar(CalendarName, version: Int64, by: Actor?)
    }

    /// The record's position in the log; also the id of its event.
    public var position: Int64
    /// Position of the same timer's previous event, 0 for none.
    public var previous: Int64 = 0
    /// Wall milliseconds at which the step was decided.
    public var at: Int64 = 0
    /// The record's content.
    public var content = Content.condensed(restingOn: 0)
    /// The timer's progress right after the record, for events, snapshots and kicks.
    public var progress = TimerProgress()
    /// The rest of a watchdog's progress.
    public var kicks: KickProgress?
    /// Milliseconds from the first alarm to the kick, for a `recovered`.
    public var stalledFor: Int64?
    /// Milliseconds since the kick before, for a `recovered`; nil where the record does not say.
    public var silentFor: Int64?
    /// The next fire as it was planned once the event's step was taken.
    public var nextFire = NextFire.notRecorded
    /// The outcome of a delivery, for the events of deliveries.
    public var outcome: DeliveryOutcome?
    /// Whether the event is to be delivered to the timer's webhook.
    public var owesDelivery = false
    /// The range of the name of the event's actor in the row's data; empty for an event that no request made.
    public var actor: Range<Int> = 0..<0
    /// The range of the record in the row's data, without its frame.
    public var body: Range<Int> = 0..<0
    /// The range of the definition, or of its prefix, in the row's data.
    public var definition: Range<Int> = 0..<0
    /// Whether `definition` is the whole definition, not its prefix.
    public var isWhole = false

    /// Whether clients see the record in streams.
    public var isEvent: Bool {
        if case .event = content { return true }
        return false
    }
}

/// A timer's next fire, as far as a record says it.
public enum NextFire: Sendable, Equatable {
    /// The record does not say: it is of another kind, or of the first format.
    case notRecorded
    /// No fire is planned.
    case unplanned
    /// The wall instant of the next fire, in milliseconds.
    case at(Int64)
}

/// The greatest position and version that were given, or may have been given, beyond what the log holds.
///
/// A mark is written ahead where changes are shown before they are on disk: only changes at or below a mark on disk
/// are shown early.
public struct HighWaterMark: Sendable, Equatable {
    /// The greatest position.
    public var position: Int64
    /// The greatest version of any timer.
    public var version: Int64

    /// Makes a mark; see the members.
    public init(position: Int64 = 0, version: Int64 = 0) {
        self.position = position
        self.version = version
    }
}
