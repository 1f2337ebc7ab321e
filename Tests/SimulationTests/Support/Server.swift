import Platform
import TimerLog
import Webhooks

@testable import TimerCore
@testable import TimerService

/// A server without threads: one process from its start to its end.
final class Server {
    let partition: Partition
    /// All partitions, by number: `partition` and its neighbours.
    let partitions: [Int: Partition]
    let committer: Committer
    let compactor: LogCompaction
    let pacing = CompactionPacing()
    let dispatcher: Dispatcher
    let courier: SimulatedCourier
    let alarm = SimulatedAlarm()
    private let time: SimulatedTime
    private let shared: SharedParts
    /// Deliveries whose events could not be read.
    private let unreadable = Unreadable()

    private final class Unreadable: @unchecked Sendable {  // unchecked: a simulation has one thread
        var count = 0
    }

    init(
        _ store: SimulatedStore, _ time: SimulatedTime, _ place: PartitionPlace = .only, _ neighbours: Neighbours? = nil
    ) throws(StoreError) {
        self.time = time
        var configuration = EngineConfiguration()
        configuration.retainMilliseconds = 60_000
        configuration.retainBytes = 4096
        configuration.deliveries.perHost = Self.perHost
        configuration.deliveries.concurrency = 64
        configuration.deliveries.backlog = Model.backlog
        configuration.deliveries.deadLetters = Model.deadLetters
        let bell = CommitBell()
        shared = SharedParts(
            configuration, partitions: place.layout.count, alarm: alarm, timeSource: time, bell: bell)
        let volume = SimulatedVolume(place.layout) { number in neighbours?.store(number) ?? store }
        partitions = try Self.open(volume, configuration, shared)
        guard let partition = partitions[place.number] else { preconditionFailure("every partition is opened") }
        self.partition = partition
        let partitions = Published(PartitionMap(place.layout, Array(self.partitions.values)))
        committer = Committer(volume, partitions, bell, durability: configuration.durability, foldsAtOnce: true)
        committer.retryPause = 1
        var tuning = LogCompaction.Tuning()
        tuning.slackBytes = 512
        tuning.rowsPerRound = 20
        compactor = LogCompaction(partition, pacing, tuning: tuning, report: { _ in })
        let sending = DeliverySending(version: "0") { event, data in
            WebhookEvent(
                id: String(event.position), type: "event", json: Recorded.body(of: event, data), payload: nil, data: [],
                source: "/", subject: "", timeMs: 0)
        }
        var made: SimulatedCourier?
        dispatcher = Dispatcher(
            partitions, configuration.deliveries, sending,
            makeCourier: { finished in
                let courier = SimulatedCourier(finished)
                made = courier
                return courier
            },
            report: { [unreadable] event in if case .deliveryUnreadable = event { unreadable.count += 1 } })
        guard let made else { preconditionFailure("a dispatcher makes its courier") }
        courier = made
        dispatcher.watch(partition)
    }

    /// Opens and folds every log of the volume.
    private static func open(
        _ volume: SimulatedVolume, _ configuration: EngineConfiguration, _ shared: SharedParts
    ) throws(StoreError) -> [Int: Partition] {
        var partitions: [Int: Partition] = [:]
        for number in 0..<volume.layout.count {
            volume.simulated(number).begin()
            partitions[number] = Partition(
                try RecoveredLog.recover(
                    volume.store(number), configuration, hashPrefix: volume.layout.hashPrefix(of: number)),
                place: PartitionPlace(number, of: volume.layout), configuration: configuration, shared: shared,
                report: { _ in })
        }
        return partitions
    }

    var engine: Engine { partition.engine }

    /// A step of the fire loop: whichever neighbours are due, then the partition.
    func fire() -> Engine.FireStep {
        if partitions.count > 1 {
            var due: [Int] = []
            shared.schedule.takeDue(at: time.boottime()) { due.append($0) }
            for number in due where number != partition.number {
                while let neighbour = partitions[number], neighbour.engine.fire() == .more {}
            }
        }
        return engine.fire()
    }

    /// Nanoseconds since boot at which the alarm goes off.
    var alarmsAt: Int64 {
        shared.schedule.armForSleep()
        return alarm.armed
    }

    var hub: EventHub { partition.hub }

    /// Takes a step of the committer, and goes on while it recovers the storage. Returns false when there will be none any
    /// more.
    func commitStep() -> Bool {
        repeat {
            guard committer.step() else { return false }
        } while committer.isRecovering
        return true
    }

    /// Exchanges with one host at once: a share of so few places is never less.
    static let perHost = 2

    /// How many deliveries could not be sent as their events could not be read.
    var unreadableDeliveries: Int { unreadable.count }

    /// The clocks as the engine sees them.
    func now() -> Now { engine.lock.withLock { engine.instant() } }

    /// Whether the committer has something to do.
    var hasWork: Bool { committer.hasWork }

    var isOpen: Bool { engine.availability == .open }

    /// What memory holds.
    func held() -> [String: HeldTimer] { HeldTimer.all(engine.scheduler) }

    /// Elapsed nanoseconds it means to wake at.
    func nextWake() -> Int64? { engine.scheduler.nextWake(now()) }

    func key(_ id: String) -> TimerKey { TimerKey(id: Array(id.utf8).span, siphash: engine.siphash) }
}
