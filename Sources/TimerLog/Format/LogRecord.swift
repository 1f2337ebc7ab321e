public import TimerCore

/// One record of the log, decoded. Records are results, never commands: folding them decides nothing.
public struct LogRecord: Sendable, Equatable {
    /// What a record says.
    public enum Content: Sendable, Equatable {
        /// Something happened to a timer.
        case event(EventType, EventReason, FireDetail?)
        /// A timer as it is, written anew so that older rows can go; `lastEvent` is the position of its newest event.
        case snapshot(lastEvent: Int64)
        /// The answer to a request with an idempotency key, or a part of it.
        case answer(StoredAnswer)
        /// A watchdog was kicked: the top half of the hash of its name, and the position of the record that holds its
        /// definition.
        case kick(hash: UInt32, base: Int64)
        /// The kicks that were here are gone; records up to that position stand for them.
        case condensed(restingOn: Int64)
        /// A delivery as it is: changed by a client, or written anew, with its event, so that older rows can go. Its
        /// slot says only whether it belongs to a timer.
        indirect case delivery(DeliveryStanding, event: LogRecord?)
        /// A deleted timer's definition as it was then: the deliveries that outlived the timer go by it.
        case will(takesDeliveries: Bool)
        /// The versions of deleted timers end here: new timers start above.
        case versionFloor(Int64)
        /// What may have been shown although the log does not hold it; the newest one counts.
        case mark(HighWaterMark)
        /// Fires, webhooks and changes are stopped from here on, or are no more.
        case drain(isDrained: Bool)
        /// How far an import has come.
        case importProgress(ImportProgress)
    }

    /// Where it stands in the log; also the id of its event.
    public var position: Int64
    /// Position of the same timer's event before, 0 for none.
    public var previous: Int64 = 0
    /// Wall milliseconds at which it was decided.
    public var at: Int64 = 0
    /// What it says.
    public var content = Content.condensed(restingOn: 0)
    /// The timer's progress right after, for events, snapshots and kicks.
    public var progress = TimerProgress()
    /// The rest of a watchdog's progress.
    public var kicks: KickProgress?
    /// Of a `recovered`: milliseconds from the first alarm to the kick.
    public var stalledFor: Int64?
    /// Of a `recovered`: milliseconds since the kick before; nil where the record does not say.
    public var silentFor: Int64?
    /// When the next fire was planned once the event's step was taken.
    public var nextFire = NextFire.unsaid
    /// What became of a delivery, for its events.
    public var outcome: DeliveryOutcome?
    /// Whether the event is to be delivered to the timer's webhook.
    public var owesDelivery = false
    /// Where in the row's data the record lies, without its frame.
    public var body: Range<Int> = 0..<0
    /// Where in the row's data the definition lies: whole, or its prefix.
    public var definition: Range<Int> = 0..<0
    /// Whether `definition` is the whole of it.
    public var isWhole = false

    /// Whether clients see it in streams.
    public var isEvent: Bool {
        if case .event = content { return true }
        return false
    }
}
