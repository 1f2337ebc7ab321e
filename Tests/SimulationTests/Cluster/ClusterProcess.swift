import Platform
import TestSupport
import TimerCluster
import TimerLog

@testable import TimerCore
@testable import TimerService

/// A process of a simulated cluster, from its start to its end, without threads: the parts of `TimerService` and of a
/// cluster's member.
final class ClusterProcess {
    /// An answer that waits until the record it depends on is durable.
    struct Answer {
        var position: Int64
        var id: String
        /// The state that the answer shows; nil when it says that there is no timer.
        var shown: HeldTimer?
        /// The timer's newest version that had been answered when the request was sent: see `SharedAudit.index`.
        var floor: Int
    }

    let machine: Machine
    let life: Int
    let store: ProcessStore
    let lease: Lease
    let shared: SharedParts
    let alarm = SimulatedAlarm()
    let active = Published<ActiveLog?>(nil)
    let committer: Committer
    let feed: EventFeed
    var membership: Membership
    /// The events that came while the process was paused.
    var waiting: [() throws -> Void] = []
    var answers: [Answer] = []
    /// Whether the process has ended, so that nothing it does has an effect.
    private(set) var isDead = false
    /// The true time until which the process is paused.
    var pausedUntil: Int64?
    var isCommitting = false
    /// Whether the committer, which has just committed, asks whether it may show that.
    var asksForLease = false
    /// Called when the committer asks for the lease while it is over.
    var onLeaseOver: () -> Void = {}
    /// Whether SIGTERM has come, and whether the process is about to leave for it.
    var (isToLeave, isLeaving) = (false, false)
    /// Whether the process ends the log for the next owner.
    var isReleasing = false
    let configuration: EngineConfiguration
    /// Whether the process reads the log while another one owns it.
    let isWarm: Bool
    /// The fold of the log while another process owns it.
    private var standby: StandbyFold?
    private let bug: ClusterHistory.Bug

    /// - Parameter life: how many processes have run on the machine before.
    init(_ machine: Machine, life: Int, _ log: MemoryLogStore, _ bug: ClusterHistory.Bug, isWarm: Bool) {
        self.machine = machine
        self.life = life
        self.bug = bug
        self.isWarm = isWarm
        var configuration = EngineConfiguration()
        configuration.deliveries.backlog = 100
        self.configuration = configuration
        store = ProcessStore(log)
        let watch = LeaseWatch(machine, bug)
        lease = Lease(now: watch.now)
        shared = SharedParts(alarm: alarm, timeSource: machine, lease: lease)
        committer = Committer(active, shared.bell, configuration, lease: lease, foldsAtOnce: true)
        committer.retryPause = 1
        feed = EventFeed(active)
        let first = Int64(machine.number + 1) * 1_000_000 + Int64(life) * 1000
        let numbers = Counter(first)
        membership = Membership(
            NodeProfile(url: "http://node-\(machine.number)", reads: Int(BatchHeader.format)), at: machine.instant,
            newSession: { numbers.next() })
        watch.process = self
    }

    private final class Counter: @unchecked Sendable {  // unchecked: a simulation has one thread
        private var last: Int64
        init(_ last: Int64) { self.last = last }
        func next() -> Int64 {
            last += 1
            return last
        }
    }

    /// The boot clock as the lease reads it. Time passes at the reading of a committer that waits for the lease.
    private final class LeaseWatch: @unchecked Sendable {  // unchecked: a simulation has one thread
        private let machine: Machine
        private let bug: ClusterHistory.Bug
        weak var process: ClusterProcess?

        init(_ machine: Machine, _ bug: ClusterHistory.Bug) {
            self.machine = machine
            self.bug = bug
        }

        @Sendable func now() -> Int64 {
            if let process, process.asksForLease {
                process.asksForLease = false
                if !process.lease.isValid { process.onLeaseOver() }
            }
            switch bug {
            case .showsPastLease: return .min / 2
            case .wallClockLease: return machine.realtime()
            default: return machine.boottime()
            }
        }
    }

    /// The rows that the process takes for lost; nil where there are none.
    private(set) var loss: LostRows?

    /// Whether the process takes steps.
    var isAwake: Bool { !isDead && pausedUntil == nil }

    /// The log, where the process owns it.
    var log: ActiveLog? { active.value }

    /// The key of the timer `id`.
    func key(_ id: String) -> TimerKey {
        TimerKey(id: Array(id.utf8).span, siphash: SipHash(secret: SimulatedStore.secret))
    }

    /// Whether the process answers requests: see `TimerService.role`.
    var isServing: Bool { isAwake && log != nil && lease.isValid && !isLeaving && !isReleasing }

    /// Whether the committer has something to do.
    var hasWork: Bool {
        guard let log, !log.hasEnded else { return false }
        return log.isDue(at: Clocks.monotonic(), isStopping: false)
            || log.recovery.isWorking && log.engine.hasBatch(isLast: false)
    }

    /// The instant at which the fire loop is to wake, in nanoseconds since boot.
    var firesAt: Int64 { alarm.isRung ? machine.boottime() : alarm.armed }

    /// Makes a round of the fire loop.
    func fire() {
        alarm.isRung = false
        alarm.arm(boottime: .max)
        guard let log, !log.engine.fire().isDone else { return }
        // The fire loop wakes again soon when it waits for the clock or the committer.
        alarm.arm(boottime: min(alarm.armed, machine.boottime() + 5_000_000))
    }

    /// How much of the log the process holds in memory: see `TimerService.memory`.
    var memory: LogMemory {
        if let log { return .through(log.engine.durableHead) }
        return standby?.isWhole == true ? .through(standby?.head ?? 0) : .warming
    }

    /// Reads rows of another process's log: see `Standby`.
    ///
    /// - Parameter rows: the most rows that are read.
    func read(rows: Int64) throws(StoreError) -> StandbyFold.Round {
        var fold = nextFold()
        var count: Int64 = 0
        let reader = try store.makeFollower()
        let round = try fold.round(
            at: machine.boottime(), bug == .standbySkipsRows ? SkippingReader(reader) : reader
        ) { _ in
            count += 1
            return count <= rows
        }
        fold.forget(at: machine.boottime())
        loss = fold.takeLoss() ?? loss
        standby = consume fold
        return round
    }

    private func nextFold() -> StandbyFold {
        standby.take() ?? StandbyFold(secret: SimulatedStore.secret, configuration)
    }

    /// Notes that the log's owner may have shown it through `position`.
    func noteShown(_ position: Int64?) {
        guard let position else { return }
        var fold = nextFold()
        fold.shown.note(position)
        standby = consume fold
    }

    /// Opens the log, and reads what the standby has not read of it.
    private func recover() throws(StoreError) -> RecoveredLog {
        if bug == .servesBeforeTheRest, let fold = standby.take() {
            return RecoveredLog(store, try store.open(), fold, deletedThrough: 0, oldest: nil)
        }
        return try RecoveredLog.recover(store, configuration, from: &standby)
    }

    /// Opens the log for a session, folds it and serves it: see `TimerService.adopt`.
    ///
    /// - Parameter isWarm: called with whether rows were read before the log was taken.
    func adopt(_ owner: LogOwner, isWarm: (Bool) -> Void = { _ in }) throws(StoreError) -> ActiveLog {
        store.begin(session: owner.session)
        isWarm(standby?.isWhole ?? false)
        let recovered = try recover()
        loss = recovered.loss ?? loss
        let log = ActiveLog(recovered, configuration: configuration, shared: shared, report: { _ in })
        feed.follow(log)
        active.publish(log)
        log.callCommitter()
        _ = log.engine.replanZoned()
        log.engine.callFireLoop()
        return log
    }

    /// Ends the log at once: see `TimerService.drop`.
    func drop() {
        guard let log else { return }
        log.end()
        active.publish(nil)
        log.close()
        log.engine.leave()
        alarm.arm(boottime: .max)
    }

    /// The position beyond which the process has promised nothing: see `TimerService.claimedThrough`.
    var claimedThrough: Int64? { log?.engine.claimedThrough }

    /// Ends the process, at any instant.
    func kill() {
        isDead = true
        waiting = []
        answers = []
        log?.end()
        committer.stop()
    }
}
