import TestSupport
import Testing
import TimerCore

@testable import TimerLog
@testable import TimerService

struct StandbyFoldTests {
    private static let second: Int64 = 1_000_000_000
    private static let day = 86_400 * second

    private let store = MemoryLogStore()

    private func standby(_ configuration: EngineConfiguration = EngineConfiguration()) throws -> ManualStandby {
        try ManualStandby(store, configuration)
    }

    private func rows() throws -> [LogRow] { try TestSupport.rows(of: store.makeFollower()) }

    /// Makes timers, each in a row of its own.
    private func create(_ ids: String..., on rig: Rig) throws {
        for id in ids {
            try rig.create(id)
            try rig.settle()
        }
    }

    // A log that grows and is compacted.

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a fold that goes on is what memory holds after every step`(_ seed: UInt64) throws {
        // With few deliveries that are owed, which are live, most of a history of any seed is garbage.
        let rig = try Rig(store, CompactionTests.keeping(milliseconds: 2000), backlog: 20)
        var tuning = LogCompaction.Tuning()
        (tuning.slackBytes, tuning.rowsPerRound, tuning.bytesPerRound) = (1000, 3, 20_000)
        let compactor = LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
        let standby = try standby(rig.engine.configuration)
        var history = RandomHistory(seed: seed + 600, payloadBytes: 300)
        for _ in 0..<20 {
            for _ in 0..<20 {
                try history.step(rig)
                try rig.settle()
                standby.noteShown(rig.log.engine.durableHead)
                #expect(try standby.round() == .ended)
                #expect(standby.copy.differences(from: rig.live) == [])
            }
            while try compactor.round(try store.makeReader()) {
                try rig.settle()
                standby.noteShown(rig.log.engine.durableHead)
                #expect(try standby.round() == .ended)
            }
            #expect(standby.takeLoss() == nil)
            let folded = try rig.folded()
            #expect(standby.copy.differences(from: folded.timers) == [])
            #expect(standby.answered.count == folded.answers.count)
            #expect(standby.answered.answerBytes == folded.answers.answerBytes)
            for number in RandomHistory.answerNumbers {
                let key = IdempotentRequest.numbered(number).key
                #expect(standby.answered.positions(of: key) == folded.answers.positions(of: key))
            }
            #expect(standby.hasTakenAnswers)
        }
        #expect(try #require(rows().first).previous > 0, "rows were deleted")
        #expect(standby.breaks == [:])
        rig.stop()
        let next = try Rig(store, time: rig.time, from: try standby.end())
        #expect(next.live.differences(from: rig.live) == [])
        next.stop()
    }

    @Test func `a round that is stopped goes on where it was stopped`() throws {
        let rig = try Rig(store)
        try create("a", "b", "c", on: rig)
        let standby = try standby()
        var count = 0
        let first = try standby.round() {
            count += 1
            return count <= 2
        }
        #expect(first == .stopped)
        #expect(!standby.isWhole)
        #expect(try standby.head == rows()[1].last)
        #expect(try standby.round() == .ended)
        #expect(standby.isWhole)
        #expect(standby.ids == ["a", "b", "c"])
        rig.stop()
    }

    // Rows that are deleted or condensed.

    @Test func `a fold that compaction has overtaken begins again, and keeps no timer that was deleted`() throws {
        let rig = try Rig(store)
        try create("ghost", "a", on: rig)
        let standby = try standby()
        #expect(try standby.round() == .ended)
        try rig.change { turn throws(ServiceError) in try turn.delete(rig.key("ghost"), if: .none) }
        try rig.settle()
        try create("b", "c", on: rig)
        _ = try store.delete(upTo: rows()[3].last)
        #expect(try standby.round() == .broken(.overtaken))
        #expect(try standby.round() == .ended)
        #expect(standby.ids == ["c"])
        #expect(standby.breaks == [.overtaken: 1])
        #expect(standby.lost == HighWaterMark())
        rig.stop()
    }

    @Test(arguments: [1, 2]) func `a fold goes on where the rows deleted were all read`(deleted: Int) throws {
        let rig = try Rig(store)
        try create("a", "b", on: rig)
        let standby = try standby()
        #expect(try standby.round() == .ended)
        try create("c", on: rig)
        _ = try store.delete(upTo: rows()[deleted - 1].last)
        #expect(try standby.round() == .ended)
        #expect(standby.ids == ["a", "b", "c"])
        #expect(standby.breaks == [:])
        rig.stop()
    }

    @Test(arguments: [(read: 1, breaks: [StandbyBreak.condensed: 1]), (read: 2, breaks: [:])])
    func `a fold begins again where a condensed row holds more than was read`(
        _ run: (read: Int, breaks: [StandbyBreak: Int])
    ) throws {
        let rig = try Rig(store)
        try create("a", on: rig)
        let standby = try standby()
        #expect(try standby.round() == .ended)
        try create("b", on: rig)
        if run.read == 2 { #expect(try standby.round() == .ended) }
        try create("c", on: rig)
        let condensed = try #require(BatchRows.condense(Array(try rows()[0...1]), restingOn: rows()[2].last))
        try store.replace(with: [condensed])
        if run.read == 1 { #expect(try standby.round() == .broken(.condensed)) }
        #expect(try standby.round() == .ended)
        #expect(standby.breaks == run.breaks)
        #expect(try standby.head == rows()[1].last)
        #expect(standby.ids == (run.read == 2 ? ["a", "b", "c"] : ["c"]))
        rig.stop()
    }

    // A log that has lost rows.

    @Test(arguments: [false, true]) func `a fold of rows that were lost begins again, above them`(goesOn: Bool) throws {
        let rig = try Rig(store)
        try create("a", on: rig)
        try rig.apply("a", .suspend)
        try create("gone", on: rig)
        rig.stop()
        let standby = try standby()
        #expect(try standby.round() == .ended)
        let (head, version) = (standby.head, standby.highestVersion)
        store.loseNewestRow()
        if goesOn {
            rig.time.pass(milliseconds: 60_000)
            let next = try Rig(store, time: rig.time)
            try create("new", on: next)
            next.stop()
        }
        #expect(try standby.round() == .broken(.diverged))
        #expect(try standby.round() == .ended)
        #expect(standby.ids == (goesOn ? ["a", "new"] : ["a"]))
        #expect(standby.lost == HighWaterMark(position: head, version: version))
        // The calendar has been set back, so that nothing else keeps positions from being given twice.
        rig.time.step(milliseconds: -3_600_000)
        let next = try Rig(store, time: rig.time, from: try standby.end())
        #expect(try next.create("later") > head)
        #expect(try #require(next.live["later"]).progress.version > version)
        next.stop()
    }

    @Test func `what was shown and not read yet is lost as well`() throws {
        let rig = try Rig(store)
        try create("a", on: rig)
        let standby = try standby()
        #expect(try standby.round() == .ended)
        let left = standby.head
        for command in [TimerCommand.suspend, .resume, .suspend] {
            try rig.apply("a", command)
            try rig.settle()
        }
        let version = try #require(rig.live["a"]).progress.version
        let shown = rig.log.engine.durableHead
        standby.noteShown(shown)
        rig.stop()
        for _ in 0..<3 { store.loseNewestRow() }
        #expect(try standby.round() == .ended)
        #expect(standby.takeLoss() == nil)
        rig.time.pass(milliseconds: 60_000)
        let next = try Rig(store, time: rig.time)
        try create("new", on: next)
        next.stop()
        #expect(try standby.round() == .ended)
        #expect(standby.takeLoss() == LostRows(after: left, through: shown))
        #expect(standby.takeLoss() == nil)
        #expect(standby.lost.position == shown)
        // No row that tells of the versions was read.
        #expect(standby.lost.version >= version)
    }

    @Test func `a damaged row is reported, and the fold begins again`() throws {
        let rig = try Rig(store)
        try create("a", on: rig)
        rig.stop()
        let standby = try standby()
        #expect(try standby.round() == .ended)
        let head = try store.open()
        let row = LogRow(
            first: head.last + 1, last: head.last + 1, previous: head.last, data: [UInt8](repeating: 1, count: 80))
        #expect(store.append([row], expecting: head.last, epoch: head.epoch) == .durable)
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { _ = try standby.round() }
            #expect(error?.kind == .damaged)
            #expect(!standby.isWhole)
        }
    }

    // Expiry without a record.

    @Test func `answers are forgotten as the owner forgets them`() throws {
        var configuration = EngineConfiguration()
        configuration.maximumIdempotencyKeys = 10
        let rig = try Rig(store, configuration)
        let standby = try standby(configuration)
        for number in 0..<60 as Range<UInt64> {
            try rig.answer(number)
            try rig.settle()
            #expect(try standby.round(at: 5 * Self.second) == .ended)
            #expect(standby.hasTakenAnswers)
            #expect(standby.answered.count == min(10, Int(number) + 1))
        }
        let newest = IdempotentRequest.numbered(59).key
        #expect(standby.answered.positions(of: newest) == rig.locked { $0.idempotency.positions(of: newest) })
        standby.forget(at: Self.day)
        #expect(standby.answered.count == 10)
        // A round that finds no row does not keep what is too old.
        #expect(try standby.round(at: Self.day) == .ended)
        standby.forget(at: Self.day + 10 * Self.second)
        #expect(standby.answered.count == 0)
        rig.stop()
    }

    @Test(arguments: [23 * 3600 * second, nil])
    func `time counts from when the newest row was folded, also in a round that was stopped`(_ read: Int64?) throws {
        let rig = try Rig(store)
        let standby = try standby()
        for number in 0..<3 as Range<UInt64> {
            try rig.answer(number)
            try rig.settle()
            if number == 0 { #expect(try standby.round() == .ended) }
        }
        var count = 0
        let round = try standby.round(at: read) {
            count += 1
            return count <= 2
        }
        #expect(round == .stopped)
        standby.forget(at: 25 * 3600 * Self.second)
        #expect(standby.answered.count == 2)
        rig.stop()
    }

    @Test func `dead letters are forgotten, the oldest of too many and those whose time is over`() throws {
        var configuration = EngineConfiguration()
        configuration.deliveries.deadLetters = 2
        let rig = try Rig(store, configuration)
        let standby = try standby(configuration)
        for (number, expected) in [1, 2, 2].enumerated() {
            try fail("t\(number)", on: rig)
            #expect(try standby.round() == .ended)
            #expect(standby.deadDeliveries == expected)
            #expect(standby.copy.differences(from: rig.live) == [])
        }
        standby.forget(at: 7 * Self.day)
        #expect(standby.deadDeliveries == 2)
        standby.forget(at: 7 * Self.day + 2 * 3600 * Self.second)
        #expect(standby.deadDeliveries == 0)
        rig.stop()
    }

    /// Makes a timer that fires and is deleted, and whose delivery ends as a dead letter.
    private func fail(_ id: String, on rig: Rig) throws {
        var rules = TimerRules(.after(1000))
        rules.deliveries = EventTypes(.fired)
        try rig.change { turn throws(ServiceError) in
            var bytes = definition(id, rules, webhook: [1, 2, 3])
            _ = try turn.create(rig.key(id), definition: &bytes)
        }
        rig.time.pass(milliseconds: 2000)
        rig.fire()
        try rig.settle()
        var (isLast, restarts) = (true, 0)
        let ready = rig.engine.takeReady(limit: 10, isLast: &isLast, restarts: &restarts)
        let attempt = try #require(rig.begin(ready.map(\.id)).first)
        var outcome = DeliveryOutcome(.deliveryDead, delivery: attempt.id, attempt: 1)
        outcome.reason = .attempts
        _ = rig.engine.settle([AttemptEnd(outcome: outcome)][...])
        try rig.change { turn throws(ServiceError) in try turn.delete(rig.key(id), if: .none) }
        try rig.settle()
    }

    // A take-over.

    @Test func `a take-over reads the rest, and counts the rows of the log`() throws {
        let rig = try Rig(store)
        try create("a", "b", on: rig)
        try rig.answer(7)
        try rig.settle()
        let standby = try standby()
        #expect(try standby.round() == .ended)
        try create("c", on: rig)
        try rig.answer(8)
        try rig.settle()
        _ = try store.delete(upTo: rows()[0].last)
        rig.stop()
        let next = try Rig(store, time: rig.time, from: try standby.end())
        #expect(next.live.differences(from: rig.live) == [])
        #expect(next.log.horizon == (try rows().first?.previous))
        for number in [7, 8] as [UInt64] {
            let key = IdempotentRequest.numbered(number).key
            let positions = rig.locked { $0.idempotency.positions(of: key) }
            #expect(next.locked { $0.idempotency.positions(of: key) } == positions)
        }
        try create("d", on: next)
        #expect(next.log.trim.uncountedThrough != nil)
        let compactor = LogCompaction(next.log, CompactionPacing()) { Issue.record("\($0)") }
        #expect(try !compactor.round(try store.makeReader()))
        #expect(next.log.trim.uncountedThrough == nil)
        #expect(next.log.trim.bytes == RowBytes(try rows()))
        next.stop()
    }
}
