/// One change that a step made. The caller records it before the next step and then calls `Scheduler.finishStep`.
public struct Effect: Sendable, Equatable {
    /// The event that streams show; nil for a change that is recorded but not shown.
    public var type: EventType?
    /// The reason: of `fired` and `deleted`, of a `suspended` that no command caused, and of what an import made or
    /// changed.
    public var reason: EventReason = .none
    /// The instant of the step, in wall milliseconds.
    public var at: Int64
    /// The timer, as an index into the table; a deleted one stays readable until `finishStep`.
    public var slot: SlotIndex
    /// The timer's progress right after this event.
    public var progress: TimerProgress
    /// The rest of a watchdog's progress; nil for other kinds.
    public var kicks: KickProgress?
    /// The details of a `fired`; nil for other types.
    public var fire: FireDetail?
    /// Milliseconds from the first alarm to the end of the stall; set for `recovered`.
    public var stalledFor: Int64?
    /// Milliseconds since the kick before, or since the watchdog was started if there was none; set for `recovered`.
    public var silentFor: Int64?
    /// The wall instant, in milliseconds, at which the next fire is planned after the whole step; nil for none.
    public var nextFireAt: Int64?
    /// Whether the step has changed the timer's definition beyond what its client set, so that the record holds all of it.
    public var redefines = false
    /// Whether the event is owed to the timer's webhook.
    public var owesDelivery = false
}

/// The details of a `fired` event beside the timer's progress.
public struct FireDetail: Sendable, Equatable {
    /// The nominal due instant, in wall milliseconds.
    public var scheduledAt: Int64
    /// Microseconds from the nominal due instant to the fire.
    public var latenessUs: Int64
    /// The number of due instants that got no fire of their own and are counted with this one.
    public var missed: Int64

    /// Makes a detail; see the members.
    public init(scheduledAt: Int64, latenessUs: Int64, missed: Int64) {
        self.scheduledAt = scheduledAt
        self.latenessUs = latenessUs
        self.missed = missed
    }
}

extension Effect {
    /// Makes the effect of an event from another server; its `slot` names no timer here.
    public init(_ type: EventType, at: Int64, progress: TimerProgress) {
        self.init(type: type, at: at, slot: 0, progress: progress)
    }
}
