import Platform
import Synchronization
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// A process's place among others, as a test sets it.
private final class ManualPlace: ClusterPlace {
    private static let start: Int64 = 1_000
    let lease = Lease { ManualPlace.start }
    var owner: String? { "http://other:1" }
    let map: ClusterMap? = nil
    let routes = Published(ClusterRoutes.none)
    func observeRoutes(_ body: @escaping @Sendable () -> Void) {}
    let (takeovers, fenced) = (0, 0)

    init(isValid: Bool = true) { if isValid { renew() } }

    func renew() { lease.extend(until: Self.start + 1, promised: .max) }
}

/// A service on a volume that others may write, on manual clocks.
private final class SharedService: Sendable {
    let volume: ContestedVolume
    let place: ManualPlace
    let time = ManualTime()
    let service: TimerService
    let fenced = Guarded<[Int]>([])
    let events = Guarded<[String]>([])

    init(leased: Bool = true, owning numbers: [Int]? = nil) throws {
        volume = ContestedVolume(try #require(PartitionLayout(strided: 4)))
        place = ManualPlace(isValid: leased)
        let (time, events) = (time, events)
        service = try TimerService(
            volume: volume, owning: numbers, place: place, configuration: EngineConfiguration(),
            alarm: ManualAlarm(time), timeSource: time,
            report: { event in events.withLock { $0.append("\(event)") } })
        let fenced = fenced
        service.onFenced { number in fenced.update { $0.append(number) } }
        service.start()
    }

    func partition(_ number: Int) throws -> Partition { try #require(service.partitions.value[number]) }

    /// Begins to create a timer in a partition. Returns what tells its fate.
    func create(_ stem: String, in number: Int) throws -> @Sendable () -> Fate {
        let partition = try partition(number)
        let position = try partition.create(service.partitions.value.id(stem, in: number))
        return { [engine = partition.engine] in engine.fate(of: position) }
    }

    /// The rows of a partition, of which each follows the one before.
    func rows(_ number: Int) throws -> [LogRow] {
        var verifier = ChainVerifier()
        let rows = try rows(of: volume.store(number))
        for row in rows { try verifier.check(row) }
        return rows
    }

    private func rows(of store: any LogStore) throws -> [LogRow] {
        var rows: [LogRow] = []
        try store.makeReader().read(from: 0) { row in
            rows.append(row)
            return true
        }
        return rows
    }
}

struct SharedStorageTests {
    @Test(arguments: [ContestedVolume.Outcome.unknownAndLost, .unknownButWritten, .absent])
    func `what was taken stands after a failure, once and without a fold`(_ outcome: ContestedVolume.Outcome) throws {
        let running = try SharedService()
        let first = try running.create("first", in: 1)
        try eventually("it is durable") { first() == .durable }
        running.volume.plan(1, outcome, outcome)
        running.volume.failSettlements(2)
        let second = try running.create("second", in: 1)
        try eventually("it is durable") { second() == .durable }
        let third = try eventuallyCreated("third", running)
        try eventually("it is durable") { third() == .durable }
        let partition = try running.partition(1)
        #expect(partition.engine.upkeep.restarts == 0)
        let rows = try running.rows(1)
        var created = 0
        for row in rows {
            try BatchRows.read(row) { record in
                if case .event(.created, _, _) = record.content { created += 1 }
                return true
            }
        }
        #expect(created == 3)
        running.service.stop()
    }

    private func eventuallyCreated(_ stem: String, _ running: SharedService) throws -> @Sendable () -> Fate {
        let partition = try running.partition(1)
        try eventually("changes are taken") { partition.engine.takesChanges }
        return try running.create(stem, in: 1)
    }

    @Test func `a partition that another process has taken ends, and the others go on`() throws {
        let running = try SharedService()
        running.volume.plan(2, .fenced)
        let lost = try running.create("lost", in: 2)
        try eventually("it is told") { running.fenced.value == [2] }
        #expect(lost() == .unknown)
        #expect(throws: ServiceError.shuttingDown) { try running.create("late", in: 2) }
        let kept = try running.create("kept", in: 1)
        try eventually("it is durable") { kept() == .durable }
        running.service.drop([2])
        #expect(running.service.partitions.value[2] == nil)
        #expect(running.service.standing == .standby(owner: "http://other:1"))
        running.service.stop()
    }

    @Test func `what the storage has lost is told, and nothing changes before an operator accepts it`() throws {
        let running = try SharedService()
        let first = try running.create("first", in: 1)
        try eventually("it is durable") { first() == .durable }
        let gone = try running.create("gone", in: 1)
        try eventually("it is durable") { gone() == .durable }
        let version = try running.partition(1).engine.upkeep.head
        running.volume.plan(1, .lost)
        let late = try running.create("late", in: 1)
        try eventually("it is told") { running.service.losses == 1 }
        #expect(late() == .lost)
        let partition = try running.partition(1)
        #expect(partition.has(running.service.partitions.value.id("first", in: 1)))
        #expect(!partition.has(running.service.partitions.value.id("gone", in: 1)))
        #expect(!running.service.isWritable)
        #expect(throws: ServiceError.storageUnavailable) { try running.create("refused", in: 1) }
        let other = try running.create("other", in: 2)
        try eventually("others go on") { other() == .durable }
        // A server that is started before that gives no version again either.
        try eventually("it is on disk which versions were given") {
            var fold = LogFold(secret: try #require(running.volume.secret))
            try running.volume.store(1).fold(into: &fold)
            return fold.mark.version > 0
        }
        running.service.acceptLoss()
        let again = try eventuallyCreated("gone", running)
        try eventually("it is durable") { again() == .durable }
        #expect(try #require(running.rows(1).last).last > version)
        running.service.stop()
    }

    @Test func `nothing that was committed is shown before the lease is renewed`() throws {
        let running = try SharedService(leased: false)
        #expect(running.service.standing == .leaseOver)
        let fate = try running.create("held", in: 1)
        try eventually("it is on disk") { try running.rows(1).count == 1 }
        #expect(fate() == .pending)
        let partition = try running.partition(1)
        #expect(partition.engine.begin([1]) == nil)
        running.place.renew()
        try eventually("it is shown") { fate() == .durable }
        #expect(partition.engine.begin([1])?.isEmpty == true)
        running.service.stop()
    }

    @Test func `a partition that is dropped before the lease is renewed shows nothing`() throws {
        let running = try SharedService(leased: false)
        let fate = try running.create("held", in: 1)
        try eventually("it is on disk") { try running.rows(1).count == 1 }
        running.service.drop([0, 1, 2, 3])
        #expect(fate() == .unknown)
        #expect(running.service.standing == .standby(owner: "http://other:1"))
        running.service.stop()
    }

    @Test func `a partition can come again while an append of its last life is under way`() throws {
        let running = try SharedService()
        running.volume.shut()
        let fate = try running.create("old", in: 1)
        try eventually("the append waits") { running.volume.isHolding }
        running.service.drop([1])
        #expect(fate() == .unknown)
        try running.service.adopt(1)
        running.volume.shut(false)
        let other = try running.create("other", in: 2)
        try eventually("it is durable") { other() == .durable }
        #expect(fate() == .unknown)
        running.service.stop()
    }

    @Test func `a service without partitions stands by, and stops`() throws {
        let running = try SharedService(owning: [])
        #expect(running.service.standing == .standby(owner: "http://other:1"))
        for number in 0..<4 {
            #expect(running.service.standing == .standby(owner: "http://other:1"))
            try running.service.adopt(number)
        }
        #expect(running.service.standing == .serving)
        running.service.stop()
    }

    @Test func `a replay has what was answered, although another partition's storage fails`() throws {
        let running = try SharedService()
        running.volume.plan(2, .unknownAndLost)
        running.volume.failSettlements(.max)
        _ = try running.create("doubtful", in: 2)
        let failing = try running.partition(2)
        try eventually("its storage fails") { !failing.engine.takesChanges }
        let fate = try running.create("answered", in: 1)
        try eventually("it is durable") { fate() == .durable }
        let answered = try running.partition(1).engine.durableHead
        let feed = running.service.feed
        #expect(feed.head < answered)
        #expect(feed.end(of: answered) == answered)
        running.volume.failSettlements(0)
        try eventually("the replay comes to its end") { feed.head >= answered }
        running.service.stop()
    }

    @Test func `streams are shown nothing while some partition is missing`() throws {
        let running = try SharedService()
        let before = running.service.feed.head
        running.service.drop([2])
        let fate = try running.create("late", in: 1)
        try eventually("it is durable") { fate() == .durable }
        var reading = running.service.feed.reading(after: before)
        #expect(reading.next() == .none(newest: before))
        try running.service.adopt(2)
        reading = running.service.feed.reading(after: before)
        guard case .slice(let slice) = reading.next() else {
            Issue.record("the row is not shown")
            return running.service.stop()
        }
        #expect(slice.row.partition == 1)
        running.service.stop()
    }

    @Test func `what was under way when a partition left is not known once it is back`() throws {
        let running = try SharedService()
        running.volume.plan(2, .unknownAndLost)
        running.volume.failSettlements(.max)
        let lost = try running.partition(2).create(running.service.partitions.value.id("lost", in: 2))
        try eventually("it is asked for") { running.volume.settled > 0 }
        running.service.drop([2])
        running.volume.failSettlements(0)
        running.time.pass(milliseconds: 5000)
        try running.service.adopt(2)
        let later = try running.create("later", in: 2)
        try eventually("it is durable") { later() == .durable }
        // Its place is below the newest row, which says nothing about it.
        let engine = try running.partition(2).engine
        #expect(engine.durableHead > lost)
        #expect(engine.fateOfEarlier(lost...lost) == .unknown)
        running.service.stop()
    }

    @Test func `what had landed though nobody heard of it is shown once its partition is back`() throws {
        let running = try SharedService()
        running.volume.plan(2, .unknownButWritten)
        running.volume.failSettlements(.max)
        let id = running.service.partitions.value.id("landed", in: 2)
        let landed = try running.partition(2).create(id)
        try eventually("it is asked for") { running.volume.settled > 0 }
        running.service.drop([2])
        running.volume.failSettlements(0)
        try running.service.adopt(2)
        let engine = try running.partition(2).engine
        // A request that began before can't tell its own record from one that took its place.
        #expect(engine.fateOfEarlier(landed...landed) == .unknown)
        #expect(engine.fate(of: landed) == .durable)
        running.service.stop()
    }

    @Test func `rows are deleted while an append is under way`() throws {
        let running = try SharedService()
        let partition = try running.partition(1)
        for name in ["a", "b"] {
            let fate = try running.create(name, in: 1)
            try eventually("it is durable") { fate() == .durable }
        }
        let oldest = try #require(try running.rows(1).first)
        running.volume.shut()
        _ = try running.create("c", in: 1)
        try eventually("the append waits") { running.volume.isHolding }
        partition.delete(through: oldest.last, RowBytes([oldest]))
        #expect(try running.rows(1).contains(oldest) == false)
        running.volume.shut(false)
        running.service.stop()
    }
}
