/// One change that a step made. The caller records it before the next step and then calls `Scheduler.finishStep`.
public struct Effect: Sendable, Equatable {
    /// The event that streams show; nil for a change that is recorded but not shown.
    public var type: EventType?
    /// Why, for `fired` and `deleted`, and for a `suspended` that no command caused.
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
    /// Set for `recovered`: milliseconds since the kick before, or since it was started where there was none.
    public var silentFor: Int64?
    /// The wall instant, in milliseconds, at which the next fire is planned after the whole step; nil for none.
    public var nextFireAt: Int64?
    /// Whether the event is owed to the timer's webhook.
    public var owesDelivery = false
}

extension Effect {
    /// An effect of which only the event is told, for a timer that is elsewhere.
    public init(_ type: EventType, at: Int64, progress: TimerProgress) {
        self.init(type: type, at: at, slot: 0, progress: progress)
    }
}
