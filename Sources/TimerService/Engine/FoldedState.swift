import TimerCore
import TimerLog

/// The contents of a log, armed and bounded, from which an engine goes on. Making one takes time in proportion to
/// the number of timers, and needs no lock.
struct FoldedState: ~Copyable {
    var scheduler: Scheduler
    var idempotency: IdempotencyTable
    /// Timers whose plans are still to be checked against the data of their zones.
    let zonedTimers: [SlotIndex]
    /// Calendars whose zones have other data here than those in the log.
    let staleCalendars: [CalendarName]
    /// Running timers with `stop: subscriber`.
    let stoppable: [SlotIndex]
    /// The newest position in the log.
    let head: Int64
    /// The newest high-water mark in the log.
    let mark: HighWaterMark
    /// Whether fires, webhooks and changes are stopped.
    let isDrained: Bool
    /// The client that stopped them; nil where it is not known.
    let drainedBy: Actor?
    /// How far imports have come.
    let imports: ImportTable
    /// All access keys.
    let keys: KeyRing
    /// The instant at which the timers were armed.
    let armedAt: Now

    /// - Parameters:
    ///   - known: the idempotency keys that are known beside the answers of `fold`: of requests that go on, and of
    ///     answers that were taken out of the fold.
    ///   - holdsUnsubscribed: whether running timers with `stop: subscriber` are held until a subscriber comes.
    ///   - now: a reading of the engine's clocks.
    ///   - moved: called now and then on the way.
    init(
        _ fold: consuming LogFold, _ known: IdempotencyTable, holdsUnsubscribed: Bool,
        _ configuration: EngineConfiguration, at now: Now, moved: () -> Void = {}
    ) {
        var idempotency = known
        // The answers are sorted into an array of their own, as the fold's does not outlive the fold.
        for place in fold.answers.sorted(by: LogFold.AnswerPlace.isOlder) { idempotency.restore(place) }
        self.idempotency = idempotency
        head = fold.head
        mark = fold.mark
        isDrained = fold.isDrained
        drainedBy = fold.drainedBy
        imports = fold.imports
        keys = fold.keys
        armedAt = now
        var scheduler = fold.finish()
        stoppable = scheduler.armAll(now, holding: holdsUnsubscribed, moved: moved)
        scheduler.boundDeliveries(
            backlog: configuration.deliveries.backlog, deadLetters: configuration.deliveries.deadLetters)
        zonedTimers = scheduler.zonedTimers()
        staleCalendars = scheduler.staleCalendars
        self.scheduler = scheduler
    }
}
