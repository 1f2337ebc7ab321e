import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// A service on a log that others may write, on manual clocks.
private final class SharedService: Sendable {
    let store = ContestedLogStore()
    let place: ManualPlace
    let time = ManualTime()
    let service: TimerService
    let fenced = Guarded(0)

    init(leased: Bool = true, owns: Bool = true) throws {
        place = ManualPlace(isValid: leased)
        service = try TimerService(
            store: store, place: place, configuration: EngineConfiguration(), alarm: ManualAlarm(time),
            timeSource: time,
            report: { _ in })
        let fenced = fenced
        service.onFenced { fenced.update { $0 += 1 } }
        service.start()
        if owns { try service.adopt() }
    }

    /// Takes the log again, which begins an epoch, and serves it.
    func adoptAgain() throws {
        store.take()
        try service.adopt()
    }

    func log() throws -> ActiveLog { try #require(service.log.value) }

    /// Begins to create a timer. Returns a closure that reads the record's fate.
    func create(_ id: String) throws -> @Sendable () -> Fate {
        let log = try log()
        let position = try log.create(id)
        return { [engine = log.engine] in engine.fate(of: position) }
    }

    /// Returns the rows of the log. Expects each to follow the one before.
    func rows() throws -> [LogRow] {
        var verifier = ChainVerifier()
        let rows = try TestSupport.rows(of: store)
        for row in rows { try verifier.check(row) }
        return rows
    }
}

struct SharedStorageTests {
    @Test(arguments: [ContestedLogStore.Outcome.unknownAndLost, .unknownButWritten, .absent])
    func `what was taken stands after a failure, once and without a fold`(_ outcome: ContestedLogStore.Outcome) throws {
        let running = try SharedService()
        let first = try running.create("first")
        try eventually("it is durable") { first() == .durable }
        running.store.plan(outcome, outcome)
        running.store.failSettlements(2)
        let second = try running.create("second")
        try eventually("it is durable") { second() == .durable }
        let third = try eventuallyCreated("third", running)
        try eventually("it is durable") { third() == .durable }
        #expect(try running.log().engine.upkeep.restarts == 0)
        var created = 0
        for row in try running.rows() {
            try BatchRows.read(row) { record in
                if case .event(.created, _, _) = record.content { created += 1 }
                return true
            }
        }
        #expect(created == 3)
        running.service.stop()
    }

    private func eventuallyCreated(_ id: String, _ running: SharedService) throws -> @Sendable () -> Fate {
        let log = try running.log()
        try eventually("changes are taken") { log.engine.takesChanges }
        return try running.create(id)
    }

    @Test func `of an append that was written in part, the part is durable and the rest is lost`() throws {
        let running = try SharedService()
        running.store.plan(.partlyWritten)
        let log = try running.log()
        var positions: [Int64] = []
        try log.change { turn throws(ServiceError) in
            for number in 0..<6 {
                var bytes = definition(
                    "t\(number)", TimerRules(.after(3_600_000)), payload: [UInt8](repeating: 0x31, count: 60_000))
                _ = try turn.create(log.key("t\(number)"), definition: &bytes)
                positions.append(turn.head)
            }
        }
        try eventually("the rest is lost") { log.engine.fate(of: positions[5]) == .lost }
        try eventually("the part is durable") { log.engine.fate(of: positions[0]) == .durable }
        #expect(log.has("t0") && !log.has("t5"))
        let later = try eventuallyCreated("later", running)
        try eventually("it is durable") { later() == .durable }
        let kept = try running.rows()[0].last
        for (number, position) in positions.enumerated() { #expect(log.has("t\(number)") == (position <= kept)) }
        running.service.stop()
    }

    @Test func `a log that another process has taken ends`() throws {
        let running = try SharedService()
        running.store.plan(.fenced)
        let lost = try running.create("lost")
        try eventually("it is told") { running.fenced.value == 1 }
        #expect(lost() == .unknown)
        #expect(throws: ServiceError.shuttingDown) { try running.create("late") }
        running.service.drop()
        #expect(running.service.log.value == nil)
        #expect(running.service.role == .standby(owner: "http://other:1"))
        running.service.stop()
    }

    @Test func `what the storage has lost is told, and nothing changes before an operator accepts it`() throws {
        let running = try SharedService()
        let first = try running.create("first")
        try eventually("it is durable") { first() == .durable }
        let gone = try running.create("gone")
        try eventually("it is durable") { gone() == .durable }
        let log = try running.log()
        let head = log.engine.upkeep.head
        running.store.plan(.lost)
        let late = try running.create("late")
        try eventually("it is told") { running.service.losses == 1 }
        #expect(late() == .lost)
        #expect(log.has("first") && !log.has("gone"))
        #expect(!running.service.isWritable)
        #expect(throws: ServiceError.storageUnavailable) { try running.create("refused") }
        // A server that starts before the loss is accepted must not give a version a second time either.
        try eventually("it is on disk which versions were given") {
            var fold = LogFold(secret: try #require(running.store.secret))
            try running.store.fold(into: &fold)
            return fold.mark.version > 0
        }
        running.service.acceptLoss(at: .max)
        let again = try eventuallyCreated("gone", running)
        try eventually("it is durable") { again() == .durable }
        #expect(try #require(running.rows().last).last > head)
        running.service.stop()
    }

    @Test func `nothing that was committed is shown before the lease is renewed`() throws {
        let running = try SharedService(leased: false)
        #expect(running.service.role == .leaseOver)
        let fate = try running.create("held")
        try eventually("it is on disk") { try running.rows().count == 1 }
        #expect(fate() == .pending)
        let log = try running.log()
        #expect(log.engine.begin([1]) == nil)
        running.place.renew()
        try eventually("it is shown") { fate() == .durable }
        #expect(log.engine.begin([1])?.isEmpty == true)
        running.service.stop()
    }

    @Test func `a log that is dropped before the lease is renewed shows nothing`() throws {
        let running = try SharedService(leased: false)
        let fate = try running.create("held")
        try eventually("it is on disk") { try running.rows().count == 1 }
        running.service.drop()
        #expect(fate() == .unknown)
        #expect(running.service.role == .standby(owner: "http://other:1"))
        running.service.stop()
    }

    @Test func `a log can come again while an append of its last life is under way`() throws {
        let running = try SharedService()
        running.store.plan(.absent)
        running.store.shut()
        let fate = try running.create("old")
        try eventually("the append waits") { running.store.isHolding }
        running.service.drop()
        #expect(fate() == .unknown)
        try running.adoptAgain()
        running.store.shut(false)
        let other = try running.create("other")
        try eventually("it is durable") { other() == .durable }
        #expect(fate() == .unknown)
        running.service.stop()
    }

    @Test func `a service without a log stands by, and stops`() throws {
        let running = try SharedService(owns: false)
        #expect(running.service.role == .standby(owner: "http://other:1"))
        #expect(running.service.claimedThrough == nil)
        try running.service.adopt()
        #expect(running.service.role == .serving)
        running.service.drop()
        running.service.drop()
        #expect(running.service.role == .standby(owner: "http://other:1"))
        running.service.stop()
        #expect(try running.service.adopt() == nil)
    }

    @Test func `a log whose keys are refused is not served, and can come again`() throws {
        let running = try SharedService(owns: false)
        let refusal = StoreError(.unusable, "these keys are not served")
        let error = #expect(throws: StoreError.self) {
            try running.service.adopt(checking: { (keys) throws(StoreError) in
                #expect(keys.count == 0)
                throw refusal
            })
        }
        #expect(error == refusal)
        #expect(!running.service.ownsLog && running.service.access.ring.value == nil)
        #expect(running.service.role == .standby(owner: "http://other:1"))
        try running.service.adopt()
        #expect(running.service.role == .serving)
        running.service.stop()
    }

    @Test func `streams are shown nothing while the log is elsewhere, and all of it once it is back`() throws {
        let running = try SharedService()
        let feed = running.service.feed
        let notified = Guarded(0)
        feed.observe { notified.withLock { $0 += 1 } }
        let before = try running.create("before")
        try eventually("it is durable") { before() == .durable }
        let shown = feed.head
        running.service.drop()
        var reading = feed.reading(after: shown)
        #expect(reading.next() == .none(newest: shown))
        #expect(feed.head == 0 && !feed.holds(after: shown) && feed.positionState(of: shown) == .gone)
        try running.service.adopt()
        let heard = notified.value
        let after = try running.create("after")
        try eventually("it is durable") { after() == .durable }
        try eventually("observers are told") { notified.value > heard }
        reading = feed.reading(after: shown)
        guard case .row(let row) = reading.next() else {
            Issue.record("the row is not shown")
            return running.service.stop()
        }
        #expect(row.previous == shown && row.last == feed.head)
        running.service.stop()
    }

    @Test func `a log can come again while its last life asks for an outcome`() throws {
        let running = try SharedService()
        running.store.plan(.unknownAndLost)
        running.store.holdSettlements()
        let fate = try running.create("old")
        try eventually("the question waits") { running.store.isHolding }
        running.service.drop()
        try running.adoptAgain()
        running.store.holdSettlements(false)
        let later = try running.create("later")
        try eventually("it is durable") { later() == .durable }
        #expect(fate() == .unknown)
        running.service.stop()
    }

    @Test func `what was under way when the log left is not known once it is back`() throws {
        let running = try SharedService()
        running.store.plan(.unknownAndLost)
        running.store.failSettlements(.max)
        let lost = try running.log().create("lost")
        try eventually("it is asked for") { running.store.settled > 0 }
        running.service.drop()
        running.store.failSettlements(0)
        running.time.pass(milliseconds: 5000)
        try running.adoptAgain()
        let later = try running.create("later")
        try eventually("it is durable") { later() == .durable }
        // The lost record's position is below the newest row's, which says nothing about the record.
        let engine = try running.log().engine
        #expect(engine.durableHead > lost)
        #expect(engine.fateOfEarlier(lost...lost) == .unknown)
        running.service.stop()
    }

    @Test func `what had landed though nobody heard of it is shown once the log is back`() throws {
        let running = try SharedService()
        running.store.plan(.unknownButWritten)
        running.store.failSettlements(.max)
        let landed = try running.log().create("landed")
        try eventually("it is asked for") { running.store.settled > 0 }
        running.service.drop()
        running.store.failSettlements(0)
        try running.adoptAgain()
        let engine = try running.log().engine
        // A request that began before can't distinguish its own record from another at the same position.
        #expect(engine.fateOfEarlier(landed...landed) == .unknown)
        #expect(engine.fate(of: landed) == .durable)
        running.service.stop()
    }

    @Test func `rows are deleted while an append is under way`() throws {
        let running = try SharedService()
        for id in ["a", "b"] {
            let fate = try running.create(id)
            try eventually("it is durable") { fate() == .durable }
        }
        let oldest = try #require(try running.rows().first)
        running.store.shut()
        _ = try running.create("c")
        try eventually("the append waits") { running.store.isHolding }
        try running.log().delete(through: oldest.last, RowBytes([oldest]))
        #expect(try running.rows().contains(oldest) == false)
        running.store.shut(false)
        running.service.stop()
    }

    @Test func `a release puts on disk what was taken, and claims it`() throws {
        let running = try SharedService()
        running.store.shut()
        let position = try running.log().create("taken")
        try eventually("the append waits") { running.store.isHolding }
        let (log, claimed) = (try running.log(), Guarded<Int64?>(nil))
        let releasing = Thread(name: "release") {
            let end = running.service.release(patience: 0, longest: .max / 2)
            claimed.update { $0 = end }
        }
        try eventually("requests are for the next owner") { running.service.role == .standby(owner: "http://other:1") }
        #expect(claimed.withLock { $0 } == nil && running.service.ownsLog)
        running.store.shut(false)
        releasing.join()
        #expect(try #require(claimed.withLock { $0 }) >= position)
        #expect(log.engine.fate(of: position) == .durable && !running.service.ownsLog)
        try running.adoptAgain()
        #expect(try running.rows().contains { $0.first <= position && position <= $0.last })
        running.service.stop()
    }

    @Test func `a release waits for histories while requests are answered, and for runs while they are not`() throws {
        let running = try SharedService()
        running.service.histories.begin()
        running.service.runs.begin()
        let log = try running.log()
        let releasing = Thread(name: "release") { _ = running.service.release(patience: .max / 2, longest: .max / 2) }
        try eventually("no delivery begins any more") { !log.engine.mayBeginDeliveries }
        #expect(running.service.role == .serving)
        running.service.histories.end()
        try eventually("requests are for the next owner") { running.service.role != .serving }
        running.service.runs.end()
        releasing.join()
        #expect(!running.service.ownsLog)
        running.service.stop()
    }

    @Test func `a release waits for nothing once the lease is over`() throws {
        let running = try SharedService()
        running.service.histories.begin()
        running.service.runs.begin()
        running.place.lease.revoke()
        _ = running.service.release(patience: .max / 2, longest: .max / 2)
        #expect(!running.service.ownsLog)
        running.service.stop()
    }
}
