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
