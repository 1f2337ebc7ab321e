import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Several partitions of a volume on manual clocks, and the fire loop, whose steps a test takes: no threads.
final class PartitionedRig {
    let time = ManualTime()
    let alarm: ManualAlarm
    let shared: SharedParts
    let published: Published<PartitionMap>
    let loop: FireLoop
    var partitions: [Partition] { published.value.all }

    init(_ count: Int = 4, _ configuration: EngineConfiguration = EngineConfiguration()) throws {
        let volume = MemoryLogVolume(try #require(PartitionLayout(strided: count)))
        alarm = ManualAlarm(time)
        let shared = SharedParts(configuration, partitions: count, alarm: alarm, timeSource: time)
        self.shared = shared
        let partitions = try (0..<count).map { number in
            Partition(
                try RecoveredLog.recover(
                    volume.store(number), configuration, hashPrefix: volume.layout.hashPrefix(of: number)),
                place: PartitionPlace(number, of: volume.layout), configuration: configuration, shared: shared,
                report: { _ in })
        }
        published = Published(PartitionMap(volume.layout, partitions))
        loop = FireLoop(published, shared, heart: Heartbeat(name: "fire"), report: { _ in })
    }

    /// Takes steps of the loop until nothing is due, and arms the alarm.
    func fire() {
        while loop.step() == .more {}
        _ = loop.prepareSleep()
    }

    /// How many fires each partition has counted.
    var fires: [Int] { partitions.map { $0.engine.snapshotCounters().fires.reduce(0, +) } }

    /// Makes a timer whose id begins with `stem`. Returns its id.
    @discardableResult
    func create(_ stem: String, in number: Int, _ rules: TimerRules) throws -> String {
        let id = published.value.id(stem, in: number)
        try partitions[number].create(id, rules)
        return id
    }
}

extension PartitionMap {
    /// An id that begins with `stem`, of a timer that belongs to the partition numbered `number`.
    func id(_ stem: String, in number: Int) -> String {
        layout.id(stem, in: number, secret: all.first?.secret ?? [])
    }
}

extension Partition {
    /// Makes changes in one turn. Returns the position of the newest record.
    @discardableResult
    func change(_ body: (borrowing Turn) throws(ServiceError) -> Void) throws(ServiceError) -> Int64 {
        try engine.turn { (turn: borrowing Turn) -> Result<Int64, ServiceError> in
            do throws(ServiceError) {
                try body(turn)
                return .success(turn.head)
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// The key of the timer `id`.
    func key(_ id: String) -> TimerKey { TimerKey(id: Array(id.utf8).span, siphash: SipHash(secret: secret)) }

    /// Makes a timer. Returns the position of the newest record.
    @discardableResult
    func create(
        _ id: String, _ rules: TimerRules = TimerRules(.after(3_600_000)), webhook: [UInt8] = []
    ) throws(ServiceError) -> Int64 {
        try change { turn throws(ServiceError) in
            var bytes = definition(id, rules, webhook: webhook)
            _ = try turn.create(key(id), definition: &bytes)
        }
    }

    /// Whether there is a timer `id`.
    func has(_ id: String) -> Bool { engine.turn { $0.find(key(id)) != nil } }

    /// Records an answer of so many bytes.
    func answer(_ number: UInt64, bytes: Int) throws(ServiceError) {
        try change { turn throws(ServiceError) in
            turn.answer(
                Hash128(high: 1, low: number), fingerprint: Hash128(high: 2, low: number),
                [UInt8](repeating: 7, count: bytes))
        }
    }
}
