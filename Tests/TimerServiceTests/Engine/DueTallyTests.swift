import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Counts of due timers that requests share.
struct DueTallyTests {
    private static let second: Int64 = 1_000_000_000

    /// The count of an hour in one bucket, and the steps that it took.
    private func count(_ rig: Rig, span: Int64 = 3_600_000) -> (count: DueCount, steps: Int) {
        var tally: DueTally?
        for steps in 1... {
            let count: DueCount? = rig.engine.turn { turn in
                let shared = tally ?? turn.tally(dueWithin: span, buckets: 1)
                tally = shared
                return turn.step(shared)
            }
            if let count { return (count, steps) }
        }
        preconditionFailure("the steps of a count end")
    }

    @Test func `a count serves all who ask within five seconds`() throws {
        let rig = try Rig(starts: false)
        try rig.create("a", TimerRules(.after(100_000)))
        #expect(count(rig).count.counts == [1])
        try rig.create("b", TimerRules(.after(100_000)))
        rig.time.pass(milliseconds: 4999)
        #expect(count(rig).count.counts == [1])
        #expect(count(rig, span: 86_400_000).count.counts == [2])
        rig.time.pass(milliseconds: 1)
        #expect(count(rig).count.counts == [2])
    }

    @Test func `requests take one count further together`() throws {
        let rig = try Rig(starts: false)
        for index in 0..<3 * DueCount.stepLimit {
            try rig.create("t\(index)", TimerRules(.after(100_000)))
            if index % 1000 == 0 { rig.locked { $0.batch.records.clear() } }
        }
        let shared = rig.engine.turn { turn in
            (turn.tally(dueWithin: 1, buckets: 1), turn.tally(dueWithin: 1, buckets: 1))
        }
        #expect(shared.0 === shared.1)
        let ends = (0..<4).map { step in
            rig.engine.turn { turn in turn.step(step % 2 == 0 ? shared.0 : shared.1)?.later }
        }
        #expect(ends.compactMap(\.self).first == 3 * DueCount.stepLimit)
        #expect(ends.prefix(2).allSatisfy { $0 == nil })
    }

    @Test func `a step costs its hold`() throws {
        let rig = try Rig(starts: false)
        var steps = 0
        rig.engine.turn { turn in
            while !turn.isSpent {
                _ = turn.step(turn.tally(dueWithin: 1, buckets: 1))
                steps += 1
            }
        }
        #expect(steps == 2)
    }

    @Test func `as many are kept as may be, and one that is dropped goes on`() throws {
        var tallies = DueTallies()
        let first = tallies.tally(span: 1, buckets: 1, at: 0)
        for buckets in 2...DueTallies.most { _ = tallies.tally(span: 1, buckets: buckets, at: Int64(buckets)) }
        #expect(tallies.tally(span: 1, buckets: 1, at: 20) === first)
        _ = tallies.tally(span: 2, buckets: 1, at: 21)
        #expect(tallies.tally(span: 1, buckets: 1, at: 22) !== first)
        let rig = try Rig(starts: false)
        #expect(rig.engine.turn { turn in turn.step(first) } != nil)
    }

    @Test func `what was counted before a fold of the log is not shown after it`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        try rig.create("kept", TimerRules(.after(100_000)))
        try rig.settle()
        store.plan(.absent)
        let position = try rig.create("lost", TimerRules(.after(100_000)))
        _ = count(rig)
        #expect(try rig.fate(position) == .lost)
        #expect(count(rig).count.counts == [1])
    }
}
