import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog
import Webhooks

@testable import TimerService

/// A service of several partitions, with all its threads, on manual clocks.
private final class PartitionedService: Sendable {
    let service: TimerService
    let time = ManualTime()

    init(_ volume: any LogVolume, owning numbers: [Int]? = nil, sending: DeliverySending? = nil) throws {
        service = try TimerService(
            volume: volume, owning: numbers, configuration: EngineConfiguration(), alarm: ManualAlarm(time),
            timeSource: time, sending: sending, report: { _ in })
        service.start()
    }

    var owned: PartitionMap { service.partitions.value }

    func partition(_ number: Int) throws -> Partition { try #require(owned[number]) }

    /// Makes a timer in the partition `number`, and waits until that is durable. Returns its id.
    @discardableResult
    func create(
        _ stem: String, in number: Int, _ rules: TimerRules = TimerRules(.after(3_600_000)), webhook: [UInt8] = []
    ) throws -> String {
        let id = owned.id(stem, in: number)
        let partition = try partition(number)
        let position = try partition.create(id, rules, webhook: webhook)
        try eventually("\(id) is durable") { partition.engine.fate(of: position) == .durable }
        return id
    }

    func fires(_ number: Int) throws -> Int {
        try partition(number).engine.snapshotCounters().fires.reduce(0, +)
    }
}

struct PartitionsTests {
    private static func layout() throws -> PartitionLayout { try #require(PartitionLayout(strided: 4)) }

    @Test func `a partition whose storage fails holds up no other`() throws {
        let failing = Guarded<FaultyLogStore?>(nil)
        let volume = WrappedVolume(try Self.layout()) { number, store in
            guard number == 1 else { return store }
            let faulty = FaultyLogStore(store)
            failing.withLock { $0 = faulty }
            return faulty
        }
        let running = try PartitionedService(volume)
        let store = try #require(failing.value)
        for number in 0..<4 { try running.create("tick", in: number, TimerRules(.every(1000, first: .period))) }
        store.failOpens(1_000_000)
        store.plan(.unknownAndLost)
        let partition = try running.partition(1)
        let lost = try partition.create(running.owned.id("lost", in: 1))
        try eventually("storage fails") { !partition.engine.takesChanges }
        for count in 1...5 {
            running.time.pass(milliseconds: 1000)
            for number in [0, 2, 3] {
                try eventually("partition \(number) fires") { try running.fires(number) >= count }
                try running.create("a\(count)", in: number)
            }
        }
        #expect(partition.engine.fate(of: lost) != .durable)
        #expect(try running.fires(1) == 0)
        store.failOpens(0)
        try eventually("storage works") { partition.engine.takesChanges }
        try eventually("partition 1 fires") { try running.fires(1) > 0 }
        try running.create("again", in: 1)
        running.service.stop()
    }

    @Test func `a log that is folded anew holds up no other partition's commits`() throws {
        let gates = Guarded<(gate: GatedLogStore, faulty: FaultyLogStore)?>(nil)
        let volume = WrappedVolume(try Self.layout()) { number, store in
            guard number == 2 else { return store }
            let faulty = FaultyLogStore(store)
            let gated = GatedLogStore(faulty)
            gates.withLock { $0 = (gated, faulty) }
            return gated
        }
        let running = try PartitionedService(volume)
        let (gate, faulty) = try #require(gates.value)
        try running.create("a", in: 2)
        gate.shutReads()
        faulty.plan(.absent)
        let partition = try running.partition(2)
        let position = try partition.create(running.owned.id("lost", in: 2))
        try eventually("the log is being folded") { gate.isHoldingRead && !partition.engine.takesChanges }
        for number in [0, 1, 3] { try running.create("b", in: number) }
        #expect(gate.isHoldingRead && !partition.engine.takesChanges)
        gate.shutReads(false)
        try eventually("storage works") { partition.engine.takesChanges }
        #expect(partition.engine.fate(of: position) == .lost)
        try running.create("c", in: 2)
        running.service.stop()
    }

    @Test func `partitions are dropped and adopted again while they are used, and nothing durable is lost`() throws {
        let volume = MemoryLogVolume(try Self.layout())
        for number in 0..<4 { _ = volume.beginEpoch(of: number, session: 1, behind: 0) }
        let running = try PartitionedService(volume.seen(by: 1), owning: [0, 3])
        #expect(running.owned.all.map(\.number) == [0, 3])
        let isOver = Guarded(false)
        let made = Guarded<[String]>([])
        let served = Guarded(0)
        let clients = [1, 2, 0].map { number in
            Background {
                var count = 0
                while !isOver.value {
                    guard let partition = running.owned[number] else { continue }
                    count += 1
                    let id = running.owned.id("n\(number)-\(count)", in: number)
                    // Refused: the partition is being dropped.
                    guard let position = try? partition.create(id) else { continue }
                    try? eventually("its fate is known") { partition.engine.fate(of: position) != .pending }
                    guard partition.engine.fate(of: position) == .durable else { continue }
                    if number == 0 { served.withLock { $0 += 1 } } else { made.withLock { $0.append(id) } }
                }
            }
        }
        for _ in 0..<10 {
            for number in [1, 2] { #expect(try running.service.adopt(number) != nil) }
            let (sofar, others) = (made.value.count, served.value)
            try eventually("clients go on") { made.value.count > sofar + 20 && served.value > others + 20 }
            let promised = try #require(running.service.promisedAtMost)
            running.service.drop([1, 2])
            for number in [1, 2] {
                #expect(running.owned[number] == nil)
                _ = volume.beginEpoch(of: number, session: 1, behind: promised)
            }
            // The logs go on ahead of the clock by what might have been promised.
            running.time.pass(milliseconds: 2000)
        }
        isOver.withLock { $0 = true }
        for client in clients { try client.finish("a client ends") }
        for number in [1, 2] { try running.service.adopt(number) }
        for id in made.value {
            #expect(try running.partition(id.hasPrefix("n1") ? 1 : 2).has(id), "\(id) is there")
        }
        running.service.stop()
    }

    @Test func `an adopted partition fires, and a dropped one fires no more`() throws {
        let running = try PartitionedService(MemoryLogVolume(try Self.layout()), owning: [0, 1])
        let id = try running.create("tick", in: 1, TimerRules(.every(1000, first: .period)))
        running.service.drop([1])
        running.time.pass(milliseconds: 10_000)
        try running.service.adopt(1)
        #expect(try running.partition(1).has(id))
        try eventually("it fires") { try running.fires(1) == 1 }
        running.time.pass(milliseconds: 1000)
        try eventually("it fires again") { try running.fires(1) == 2 }
        running.service.stop()
        #expect(try running.service.adopt(2) == nil)
    }

    @Test func `the counters are those of all partitions`() throws {
        let running = try PartitionedService(MemoryLogVolume(try Self.layout()))
        for number in 0..<4 {
            for count in 0...number { try running.create("a\(count)", in: number, TimerRules(.after(1000))) }
        }
        running.time.pass(milliseconds: 1000)
        try eventually("all fire") { running.service.snapshotCounters().fires.reduce(0, +) == 10 }
        let sum = running.service.snapshotCounters()
        #expect(sum.events[Int(EventType.created.rawValue)] == 10)
        #expect(sum.timers.reduce(0, +) == 10)
        #expect(sum.lateness.counts.reduce(0, +) == 10)
        #expect(sum.holdSeconds.bounds.isEmpty == false)
        running.service.stop()
    }
}

/// Deliveries of several partitions by one dispatcher.
struct PartitionedDeliveryTests {
    private static func sending() -> DeliverySending {
        DeliverySending(version: "0") { event, data in
            WebhookEvent(
                id: String(event.position), type: "fired", json: [], payload: nil, data: [], source: "/", subject: "t",
                timeMs: event.at)
        }
    }

    @Test func `events of all partitions are delivered, also while the storage of one fails`() throws {
        let receiver = Receiver { visit in
            visit.answer(200)
            return .keep
        }
        let stores = Guarded<[FaultyLogStore]>([])
        let volume = WrappedVolume(try #require(PartitionLayout(strided: 4))) { _, store in
            let faulty = FaultyLogStore(store)
            stores.withLock { $0.append(faulty) }
            return faulty
        }
        let running = try PartitionedService(volume, sending: Self.sending())
        let retry = RetryPolicy(initialMs: 86_400_000, maxMs: 86_400_000)
        let webhook = WebhookConfiguration(url: "\(receiver.base)/a", retry: retry).encode()
        var rules = TimerRules(.every(1000, first: .period))
        rules.deliveries = EventTypes(.fired)
        for number in 0..<4 { try running.create("a", in: number, rules, webhook: webhook) }
        let delivered = { (number: Int) in
            try running.partition(number).engine.snapshotCounters()
                .attempts[EngineCounters.AttemptKind.delivered.rawValue]
        }
        running.time.pass(milliseconds: 1000)
        for number in 0..<4 { try eventually("delivered") { try delivered(number) == 1 } }
        stores.value[1].failOpens(1_000_000)
        stores.value[1].plan(.unknownAndLost)
        for count in 2...4 {
            running.time.pass(milliseconds: 1000)
            for number in [0, 2, 3] { try eventually("delivered") { try delivered(number) == count } }
        }
        #expect(try delivered(1) == 1)
        stores.value[1].failOpens(0)
        try eventually("the rest is delivered") { try delivered(1) > 1 }
        running.service.drain(seconds: 0)
        running.service.stop()
        receiver.stop()
    }
}
