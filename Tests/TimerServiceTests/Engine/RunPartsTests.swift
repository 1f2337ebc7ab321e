import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Runs under an idempotency key: the log holds a step's changes and the part of the answer that reports them,
/// or neither.
struct RunPartsTests {
    private static let request = IdempotentRequest.numbered(77)

    /// Takes a step of the run, which makes a timer and records its part of the answer.
    @discardableResult
    private func step(_ rig: Rig, _ number: Int, isTotal: Bool = false, isLast: Bool = false) throws -> Int64 {
        try rig.change { turn throws(ServiceError) in
            var bytes = definition("t\(number)", TimerRules(.after(1 << 40)), payload: [])
            _ = try turn.create(rig.key("t\(number)"), definition: &bytes)
            turn.keep([UInt8(number)], of: Self.request, isTotal: isTotal, isLast: isLast)
        }
    }

    private func begin(_ rig: Rig) throws -> IdempotencyVerdict {
        var verdict = IdempotencyVerdict.fresh
        try rig.change { turn throws(ServiceError) in
            verdict = try turn.begin(Self.request)
        }
        return verdict
    }

    private func parts(_ rig: Rig, _ positions: [Int64]) throws -> [UInt8] {
        let records = try rig.records()
        return positions.compactMap { position in
            guard case .answer(let answer)? = records.first(where: { $0.position == position })?.content else {
                return nil
            }
            return answer.answer.first
        }
    }

    @Test(arguments: [FaultyLogStore.Outcome.unknownAndLost, .absent, .unknownButWritten])
    func `after a failed append the run goes on behind the parts that stand`(_ outcome: FaultyLogStore.Outcome) throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        #expect(try begin(rig) == .fresh)
        let first = try step(rig, 0)
        try rig.settle()
        store.plan(outcome)
        let second = try step(rig, 1)
        let stands = try rig.fate(second) == .durable
        #expect(stands == (outcome == .unknownButWritten))
        try eventually("writes are taken again") { rig.locked { $0.availability == .open } }
        #expect(try begin(rig) == .inProgress)
        rig.engine.turn { $0.release(Self.request.key) }
        #expect(try begin(rig) == .cut(stands ? [first, second] : [first]))
        #expect((rig.progress("t1") != nil) == stands)
        let last = try step(rig, 2, isLast: true)
        #expect(try begin(rig) == .answered(stands ? [first, second, last] : [first, last]))
        try rig.settle()
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test(arguments: [false, true])
    func `a restart finds the parts that were written`(_ isTotal: Bool) throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        #expect(try begin(rig) == .fresh)
        let began = rig.locked { $0.instant().wall }
        for number in 0..<3 {
            try step(rig, number, isTotal: isTotal)
            rig.time.pass(milliseconds: 1000)
        }
        rig.stop()

        let again = try Rig(store, time: rig.time)
        guard case .cut(let positions) = try begin(again) else {
            Issue.record("the key was cut")
            return
        }
        #expect(try parts(again, positions) == (isTotal ? [2] : [0, 1, 2]))
        #expect(again.locked { $0.idempotency.runUnderWay(of: Self.request.key)?.began } == began)
        try step(again, 3, isTotal: isTotal, isLast: true)
        guard case .answered(let whole) = try begin(again) else {
            Issue.record("the answer is whole")
            return
        }
        try again.settle()
        #expect(try parts(again, whole) == (isTotal ? [3] : [0, 1, 2, 3]))
        again.stop()
    }

    @Test(arguments: [false, true], [false, true])
    func `compaction keeps the parts that are wanted, of a run that is cut or done`(
        _ isTotal: Bool, _ isDone: Bool
    ) throws {
        let store = MemoryLogStore()
        let configuration = CompactionTests.keeping(milliseconds: 0)
        let rig = try Rig(store, configuration)
        let compactor = LogCompaction(
            rig.log, CompactionPacing(), tuning: LogCompaction.Tuning(slackBytes: 0, rowsPerRound: 3),
            report: { _ in }
        )
        _ = try begin(rig)
        for number in 0..<6 {
            try step(rig, number, isTotal: isTotal, isLast: isDone && number == 5)
            try rig.settle()
        }
        if !isDone { rig.engine.turn { $0.release(Self.request.key) } }
        for round in 0..<10 {
            for number in 0..<20 {
                try rig.create("gone\(number)", payload: [UInt8](repeating: 0x31, count: 500))
                try rig.change { turn throws(ServiceError) in
                    try turn.delete(rig.key("gone\(number)"), if: VersionCondition.none)
                }
            }
            try rig.settle()
            rig.time.pass(milliseconds: 10)
            while try compactor.round(try store.makeReader()) {}
            let positions = rig.locked { $0.idempotency.positions(of: Self.request.key) }
            #expect(try parts(rig, positions) == (isTotal ? [5] : [0, 1, 2, 3, 4, 5]), "round \(round)")
        }
        #expect(try #require(try rows(of: store).first).previous > 0)
        rig.stop()
        let again = try Rig(store, configuration, time: rig.time)
        let positions = again.locked { $0.idempotency.positions(of: Self.request.key) }
        switch try begin(again) {
        case .answered(let found): #expect(isDone && found == positions)
        case .cut(let found): #expect(!isDone && found == positions)
        case let verdict: Issue.record("the key is \(verdict)")
        }
        #expect(try parts(again, positions) == (isTotal ? [5] : [0, 1, 2, 3, 4, 5]))
        again.stop()
    }

    @Test func `a run whose beginning is a day old begins anew`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        _ = try begin(rig)
        try step(rig, 0)
        rig.time.pass(milliseconds: 86_400_000)
        try step(rig, 1)
        rig.engine.turn { $0.release(Self.request.key) }
        guard case .cut = try begin(rig) else {
            Issue.record("to the day it is kept")
            return
        }
        rig.engine.turn { $0.release(Self.request.key) }
        rig.time.pass(milliseconds: 1)
        #expect(try begin(rig) == .fresh)
        let anew = try step(rig, 2)
        rig.stop()
        let again = try Rig(store, time: rig.time)
        #expect(try begin(again) == .cut([anew]))
        again.stop()
    }

    @Test func `an answer that shows a timer is kept without a word of JSON`() throws {
        let rig = try Rig()
        _ = try begin(rig)
        var view = TimerView()
        try rig.change { turn throws(ServiceError) in
            var bytes = definition("w", TimerRules(.watchdog(1000)), payload: Array("{\"a\":1}".utf8))
            let slot = try turn.create(rig.key("w"), definition: &bytes)
            turn.copy(slot, into: &view)
            turn.answer(Self.request, status: 201, view)
        }
        try rig.settle()
        guard case .answer(let answer)? = try rig.records().last?.content else {
            Issue.record("the answer is the last record")
            return
        }
        #expect(answer.form == .timer)
        let shown = try #require(ShownTimer(answer.answer))
        #expect(shown.status == 201)
        #expect(shown.eventID == view.eventID)
        #expect(shown.now == view.now)
        #expect(shown.progress == view.progress)
        #expect(shown.kicks == view.kicks)
        #expect(shown.definition == view.definition)
        rig.stop()
    }
}
