import Platform
import TestSupport
import TimerCluster
import TimerLog

@testable import TimerCore
@testable import TimerService

/// A process of a simulated cluster, from its start to its end, without threads: what `TimerService` and its part in a
/// cluster are made of.
final class ClusterProcess {
    /// An answer that waits until what it rests on is durable.
    struct Answer {
        var partition: Int
        var position: Int64
        var id: String
        /// The state it shows; nil when it says that the timer is gone.
        var shown: HeldTimer?
        /// How much of the timer's history had been answered when the request was sent.
        var floor: Int
    }

    let machine: Machine
    let life: Int
    let volume: ProcessVolume
    let lease: Lease
    let shared: SharedParts
    let alarm = SimulatedAlarm()
    let partitions: Published<PartitionMap>
    let committer: Committer
    let feed: EventFeed
    var membership: Membership
    /// What was sent to it while it stood still.
    var waiting: [() throws -> Void] = []
    var answers: [Answer] = []
    /// Whether it has ended: nothing that it does has an effect.
    private(set) var isDead = false
    /// True time until which it stands still.
    var pausedUntil: Int64?
    var isCommitting = false
    /// Whether the committer, which has just committed, asks whether it may show that.
    var asksForLease = false
    /// Called when the committer asks for the lease while it is over.
    var onLeaseOver: () -> Void = {}
    /// Whether SIGTERM has come.
    var isLeaving = false
    let configuration: EngineConfiguration
    private let sources = Sources()
    /// Called before a stream looks at a partition: other threads of the process, and other processes, may take steps.
    var onLook: () -> Void = {}

    /// - Parameter life: how many processes have run on the machine before.
    init(_ machine: Machine, life: Int, _ shared: MemoryLogVolume, _ bug: ClusterHistory.Bug) {
        self.machine = machine
        self.life = life
        var configuration = EngineConfiguration()
        configuration.deliveries.backlog = 100
        self.configuration = configuration
        volume = ProcessVolume(shared)
        let watch = LeaseWatch(machine, bug)
        lease = Lease(now: watch.now)
        let layout = shared.layout
        self.shared = SharedParts(
            configuration, partitions: layout.count, alarm: alarm, timeSource: machine, lease: lease)
        partitions = Published(PartitionMap(layout, []))
        committer = Committer(
            volume, partitions, self.shared.bell, durability: .commit, lease: lease, foldsAtOnce: true)
        committer.retryPause = 1
        let (published, sources) = (partitions, sources)
        feed = EventFeed(layout) {
            let owned = published.value
            return owned.isWhole ? owned.all.compactMap { sources.all[$0.number] } : []
        }
        let first = Int64(machine.number + 1) * 1_000_000 + Int64(life) * 1000
        let numbers = Counter(first)
        membership = Membership(
            NodeProfile(url: "http://node-\(machine.number)", reads: Int(BatchHeader.format)),
            partitions: layout.count, at: machine.instant, newSession: { numbers.next() })
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

    /// The partitions as streams see them.
    private final class Sources: @unchecked Sendable {  // unchecked: a simulation has one thread
        var all: [Int: SteppedSource] = [:]
    }

    /// The boot clock as the lease reads it. A committer that waits for the lease lets time pass by reading it.
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

    /// Whether it takes steps.
    var isAwake: Bool { !isDead && pausedUntil == nil }

    /// The partitions that it owns.
    var owned: PartitionMap { partitions.value }

    /// The key of the timer `id`.
    func key(_ id: String) -> TimerKey {
        TimerKey(id: Array(id.utf8).span, siphash: SipHash(secret: SimulatedStore.secret))
    }

    /// Whether it answers requests: see `TimerService.standing`.
    var isServing: Bool { isAwake && owned.isWhole && lease.isValid && !isLeaving }

    /// The partitions of which something is to be committed.
    var workingPartitions: [Partition] {
        let now = Clocks.monotonic()
        return partitions.value.all.filter { partition in
            !partition.hasEnded
                && (partition.isDue(at: now, isStopping: false)
                    || partition.recovery.isWorking && partition.engine.hasBatch(isLast: false))
        }
    }

    /// When the fire loop means to wake, in nanoseconds since boot.
    var firesAt: Int64 {
        if alarm.isRung { return machine.boottime() }
        shared.schedule.armForSleep()
        return alarm.armed
    }

    /// A round of the fire loop.
    func fire() {
        alarm.isRung = false
        guard volume.layout.count > 1 else {
            alarm.arm(boottime: .max)
            if let partition = partitions.value[0], partition.engine.fire() != .done { held(0) }
            return
        }
        var due: [Int] = []
        shared.schedule.takeDue(at: machine.boottime()) { due.append($0) }
        for number in due {
            guard let partition = partitions.value[number] else { continue }
            if partition.engine.fire() != .done { held(number) }
        }
    }

    /// The fire loop looks again soon at a partition that waits for its clock, or for the committer.
    private func held(_ number: Int) { shared.schedule.plan(machine.boottime() + 5_000_000, for: number) }

    /// Opens a partition's log for a session, folds it and serves it: see `TimerService.adopt`.
    func adopt(_ owner: PartitionOwner) throws(StoreError) -> Partition {
        volume.begin(session: owner.session)
        let layout = volume.layout
        let log = try RecoveredLog.recover(
            volume.store(owner.partition), configuration, hashPrefix: layout.hashPrefix(of: owner.partition))
        let partition = Partition(
            log, place: PartitionPlace(owner.partition, of: layout), configuration: configuration, shared: shared,
            isShared: true, report: { _ in })
        let source = SteppedSource(partition) { [unowned self] in onLook() }
        sources.all[owner.partition] = source
        feed.follow(source)
        partitions.publish(partitions.value.adding(partition))
        partition.callCommitter()
        _ = partition.engine.replanCron()
        partition.engine.callFireLoop()
        return partition
    }

    /// Ends partitions at once: see `TimerService.drop`.
    func drop(_ numbers: [Int]) {
        let dropped = numbers.compactMap { partitions.value[$0] }
        for partition in dropped { partition.end() }
        for partition in dropped { partitions.publish(partitions.value.removing(partition.number)) }
        for partition in dropped {
            partition.close()
            partition.engine.leave()
            shared.schedule.forget(partition.number)
        }
    }

    /// Position beyond which its partitions have promised nothing: see `TimerService.promisedAtMost`.
    var promisedAtMost: Int64? { partitions.value.all.map(\.engine.promisedAtMost).max() }

    /// Ends the process, at any instant.
    func kill() {
        isDead = true
        waiting = []
        answers = []
        for partition in partitions.value.all { partition.end() }
        committer.stop()
    }
}
