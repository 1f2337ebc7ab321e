import Platform
import TimerLog

@testable import TimerCore
@testable import TimerService

/// A server without threads: one process from its start to its end.
final class Server {
    let engine: Engine
    let hub: EventHub
    let committer: Committer
    let compactor: Compactor
    let alarm = SimulatedAlarm()

    init(_ store: SimulatedStore, _ time: SimulatedTime) throws(StoreError) {
        var configuration = EngineConfiguration()
        configuration.retainMilliseconds = 60_000
        configuration.retainBytes = 4096
        let head = try store.revive()
        var fold = LogFold(secret: head.secret)
        try Committer.fold(&fold, store)
        let (deletedThrough, bytes) = (fold.deletedThrough ?? 0, fold.bytes)
        engine = Engine(fold, configuration: configuration, alarm: alarm, timeSource: time)
        hub = EventHub(head: head.last)
        committer = Committer(
            engine, store, hub, head: head, deletedThrough: deletedThrough, bytes: bytes,
            report: { _ in })
        committer.retryPause = 1
        var tuning = Compactor.Tuning()
        tuning.slackBytes = 512
        tuning.rowsPerRound = 20
        compactor = Compactor(engine, store, committer, tuning: tuning, report: { _ in })
    }

    /// The clocks as the engine sees them.
    func now() -> Now { engine.lock.withLock { engine.instant() } }

    /// Whether the committer has something to do.
    var hasWork: Bool { engine.lock.withLock { committer.hasWork } }

    var isOpen: Bool { engine.availability == .open }

    /// What memory holds.
    func held() -> [String: HeldTimer] { HeldTimer.all(engine.scheduler) }

    /// Elapsed nanoseconds it means to wake at.
    func nextWake() -> Int64? { engine.scheduler.nextWake(now()) }

    func key(_ id: String) -> TimerKey { TimerKey(id: Array(id.utf8).span, siphash: engine.siphash) }
}
