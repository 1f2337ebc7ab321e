import Platform
import TimerLog
import Webhooks

@testable import TimerCore
@testable import TimerService

/// A server without threads: one process from its start to its end.
final class Server {
    let log: ActiveLog
    let committer: Committer
    let compactor: LogCompaction
    let pacing = CompactionPacing()
    let dispatcher: Dispatcher
    let courier: SimulatedCourier
    let alarm = SimulatedAlarm()
    /// The number of deliveries whose events could not be read.
    private let unreadable = Unreadable()

    private final class Unreadable: @unchecked Sendable {  // unchecked: a simulation has one thread
        var count = 0
    }

    init(_ store: SimulatedStore, _ time: SimulatedTime) throws(StoreError) {
        var configuration = EngineConfiguration()
        configuration.retainMilliseconds = 60_000
        configuration.retainBytes = 4096
        configuration.deliveries.perHost = Self.perHost
        configuration.deliveries.concurrency = 64
        configuration.deliveries.backlog = Model.backlog
        configuration.deliveries.deadLetters = Model.deadLetters
        // The same seed gives the same history, however long appends take.
        configuration.longestLed = .max
        let bell = CommitBell()
        store.begin()
        log = ActiveLog(
            try RecoveredLog.recover(store, configuration), configuration: configuration,
            shared: SharedParts(alarm: alarm, timeSource: time, bell: bell), report: { _ in })
        let published = Published<ActiveLog?>(log)
        committer = Committer(published, bell, configuration, foldsAtOnce: true)
        committer.retryPause = 1
        var tuning = LogCompaction.Tuning()
        tuning.slackBytes = 512
        tuning.rowsPerRound = 20
        compactor = LogCompaction(log, pacing, tuning: tuning, report: { _ in })
        let sending = DeliverySending(version: "0") { event, data, _ in
            WebhookEvent(
                id: String(event.position), type: "event", json: Recorded.body(of: event, data), payload: nil, data: [],
                source: "/", subject: "", timeMs: 0)
        }
        var made: SimulatedCourier?
        dispatcher = Dispatcher(
            published, configuration.deliveries, sending,
            makeCourier: { finished in
                let courier = SimulatedCourier(finished)
                made = courier
                return courier
            },
            report: { [unreadable] event in if case .deliveryUnreadable = event { unreadable.count += 1 } })
        guard let made else { preconditionFailure("a dispatcher makes its courier") }
        courier = made
        dispatcher.watch(log)
    }

    var engine: Engine { log.engine }

    var hub: EventHub { log.hub }

    /// Takes a step of the committer, or one in its place where a thread may lead, and goes on while it recovers the
    /// storage. Returns false when there are no further steps.
    func commitStep(leads: Bool = false) -> Bool {
        if leads && committer.lead() && !committer.isRecovering { return true }
        repeat {
            guard committer.step() else { return false }
        } while committer.isRecovering
        return true
    }

    /// The most exchanges with one host at once, so few that the host's share of all places is never less.
    static let perHost = 2

    /// The number of deliveries that could not be sent, as their events could not be read.
    var unreadableDeliveries: Int { unreadable.count }

    /// The clocks as the engine sees them.
    func now() -> Now { engine.lock.withLock { engine.instant() } }

    /// Whether the committer has something to do.
    var hasWork: Bool { committer.hasWork }

    var isOpen: Bool { engine.availability == .open }

    /// The timers in memory, by id.
    func held() -> [String: HeldTimer] { HeldTimer.all(engine.scheduler) }

    /// The instant at which the server plans to wake, in elapsed nanoseconds.
    func nextWake() -> Int64? { engine.scheduler.nextWake(now()) }

    func key(_ id: String) -> TimerKey { TimerKey(id: Array(id.utf8).span, siphash: engine.siphash) }
}
