import TimerCore
import TimerLog

/// What a log held, armed and bounded: what an engine goes on from. Making one takes as long as there are timers, and needs
/// no lock.
struct FoldedState: ~Copyable {
    var scheduler: Scheduler
    var idempotency: IdempotencyTable
    /// Cron timers whose plans are still to be held against the data of their zones.
    let cronTimers: [SlotIndex]
    /// The newest position in the log.
    let head: Int64
    /// When its timers were armed.
    let armedAt: Now

    /// - Parameters:
    ///   - underWay: keys of requests that go on.
    ///   - now: a reading of the engine's clocks.
    init(
        _ fold: consuming LogFold, underWay: IdempotencyTable, _ configuration: EngineConfiguration, at now: Now
    ) {
        var idempotency = underWay
        // Sorted into an array of their own: the fold's does not outlive it.
        for place in fold.answers.sorted(by: LogFold.AnswerPlace.isOlder) { idempotency.complete(place) }
        self.idempotency = idempotency
        head = fold.head
        armedAt = now
        var scheduler = fold.finish()
        scheduler.armAll(now)
        scheduler.boundDeliveries(
            backlog: configuration.deliveries.backlog, deadLetters: configuration.deliveries.deadLetters)
        cronTimers = scheduler.cronTimers()
        self.scheduler = scheduler
    }
}
