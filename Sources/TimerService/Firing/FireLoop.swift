import Platform
import Synchronization

/// The thread that fires what is due: it lets each partition that is due take a bounded step, then sleeps until the alarm.
///
/// Of several partitions each has one step in a round, so none waits for another one's timers to be fired, nor for another
/// one's disk. Once a second all of them have one, due or not: an engine's clock has to be read that often. With them the
/// time bases that are due are written, those of all partitions in one append.
final class FireLoop: Worker {
    let name = "fire"
    private let schedule: FireSchedule
    private let heart: Heartbeat
    private let stopping = Atomic<Bool>(false)
    private let rounds: Guarded<FireRounds>
    /// The longest sleep, in milliseconds: the loop proves that it moves even when nothing is due.
    static let longestSleep: Int32 = 1000
    /// Sleep while too many records wait for the disk.
    private static let backpressureSleep: Int32 = 1

    private let partitions: Published<PartitionMap>
    private let report: @Sendable (ServiceEvent) -> Void

    init(
        _ partitions: Published<PartitionMap>, _ shared: SharedParts, heart: Heartbeat,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.partitions = partitions
        schedule = shared.schedule
        rounds = Guarded(FireRounds(partitions, shared))
        self.heart = heart
        self.report = report
    }

    /// Plans cron timers anew whose zones' data have changed since the log was written: nothing fires before.
    func prepare() {
        let replanned = partitions.value.all.reduce(0) { $0 + $1.engine.replanCron() }
        if replanned > 0 { report(.timeZonesChanged(timers: replanned)) }
    }

    /// Fires until `stop`. The body of its thread.
    func run() {
        while !stopping.load(ordering: .acquiring) {
            switch step() {
            case .done: sleep(milliseconds: Self.longestSleep)
            case .more: rounds.withLock { $0.letOthersIn() }
            case .held: sleep(milliseconds: Self.backpressureSleep)
            }
        }
    }

    /// Lets each partition that is due take a step.
    func step() -> Engine.FireStep { rounds.withLock { $0.step(heart) } }

    private func sleep(milliseconds: Int32) { schedule.sleep(milliseconds: prepareSleep(milliseconds: milliseconds)) }

    /// Arms the alarm for the next waking. Returns how long the loop may sleep at most, in milliseconds.
    func prepareSleep(milliseconds: Int32 = FireLoop.longestSleep) -> Int32 {
        rounds.withLock { $0.prepareSleep(milliseconds: milliseconds) }
    }

    func stop() {
        stopping.store(true, ordering: .releasing)
        schedule.ring()
    }
}
