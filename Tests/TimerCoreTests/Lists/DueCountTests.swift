import TestSupport
import Testing

@testable import TimerCore

/// Counts of timers by when they are due.
struct DueCountTests {
    /// The result of a count of so many milliseconds in steps of `limit`.
    private func count(_ bench: Bench, span: Int64, buckets: Int, limit: Int = DueCount.stepLimit) -> DueCount {
        var count = DueCount(span: span, buckets: buckets)
        while !count.step(bench.scheduler, bench.now, limit: limit) {}
        return count
    }

    @Test func `a bucket holds its first instant and not its end`() throws {
        let bench = Bench()
        for (index, due) in [0, 9, 10, 19, 39, 40, 4000].enumerated() {
            try bench.create(rules(.at(Bench.wall(Int64(due)))), id: "t\(index)")
        }
        let count = count(bench, span: 40, buckets: 4)
        #expect(count.counts == [2, 2, 0, 1])
        #expect((count.overdue, count.later, count.from) == (0, 2, bench.now.wall))
    }

    @Test func `what is overdue is in no bucket`() throws {
        let bench = Bench()
        for after in [10, 20, 90] { try bench.create(rules(.after(Int64(after))), id: "t\(after)") }
        bench.pass(50)
        let count = count(bench, span: 100, buckets: 2)
        #expect((count.overdue, count.counts) == (2, [1, 0]))
    }

    @Test func `timers without a next fire are not counted`() throws {
        let bench = Bench()
        for id in ["idle", "suspended", "cancelled", "gone", "running"] {
            try bench.create(rules(.after(10)) { if id == "idle" { $0.start = .manual } }, id: id)
        }
        try bench.apply(.suspend, id: "suspended")
        try bench.apply(.cancel, id: "cancelled")
        try bench.delete(id: "gone")
        try bench.create(rules(.watchdog(20)), id: "alarming")
        bench.advance(20)
        let count = count(bench, span: 100, buckets: 1)
        #expect((count.counts, count.overdue, count.later) == ([0], 0, 0))
    }

    @Test(arguments: [1, 7, DueCount.stepLimit])
    func `a count agrees with the instants that timers show`(limit: Int) throws {
        var random = SeededGenerator(seed: 3)
        let bench = Bench()
        for index in 0..<500 {
            let ahead = random.number(0...100_000)
            let isDog = random.chance(oneIn: 4)
            let rules = rules(isDog ? .watchdog(ahead + 1) : .after(ahead)) {
                if !isDog { $0.clock = random.chance(oneIn: 2) ? .continuous : .suspending }
                if !isDog && random.chance(oneIn: 3) { $0.jitter = 5000 }
            }
            try bench.create(rules, id: "t\(index)")
            if isDog && random.chance(oneIn: 2) { try bench.apply(.kick, id: "t\(index)") }
        }
        bench.down(70)
        bench.pass(10_000)
        let (from, span, buckets) = (bench.now.wall, Int64(60_001), 7)
        var expected = [Int](repeating: 0, count: buckets)
        var (overdue, later) = (0, 0)
        for index in 0..<500 {
            let rules = try bench.rules("t\(index)")
            guard let due = try bench.progress("t\(index)").nextFireAt(rules, bench.now) else { continue }
            if due < from {
                overdue += 1
            } else if due >= from + span {
                later += 1
            } else {
                expected[Int((due - from) * Int64(buckets) / span)] += 1
            }
        }
        let count = count(bench, span: span, buckets: buckets, limit: limit)
        #expect((count.counts, count.overdue, count.later) == (expected, overdue, later))
        #expect(overdue > 0 && later > 0)
    }

    @Test func `a step looks at a bounded number of slots, and fewer of those whose rules are asked`() throws {
        let bench = Bench()
        for index in 0..<64 { try bench.create(rules(.after(10)), id: "t\(index)") }
        for index in 0..<64 { try bench.create(rules(.watchdog(10)), id: "dog\(index)") }
        var count = DueCount(span: 100, buckets: 1)
        var totals: [Int] = []
        while !count.step(bench.scheduler, bench.now, limit: 32) { totals.append(count.counts[0]) }
        #expect(totals.prefix(4) == [32, 64, 66, 68])
        #expect(count.counts == [128])
        #expect(count.isDone)
    }

    @Test func `a timer that is there throughout is counted once, though it moves`() throws {
        let bench = Bench()
        for index in 0..<10 { try bench.create(rules(.every(30, first: .period)), id: "t\(index)") }
        var count = DueCount(span: 1000, buckets: 10)
        _ = count.step(bench.scheduler, bench.now, limit: 5)
        bench.advance(300)
        try bench.create(rules(.after(10)), id: "new")
        while !count.step(bench.scheduler, bench.now, limit: 5) {}
        #expect(count.counts.reduce(0, +) == 11 && count.overdue == 0)
    }

    @Test func `a count of another table begins again`() throws {
        let (old, new) = (Bench(), Bench())
        for index in 0..<10 { try old.create(rules(.after(10)), id: "t\(index)") }
        try new.create(rules(.after(10)))
        new.pass(3)
        var count = DueCount(span: 100, buckets: 2)
        _ = count.step(old.scheduler, old.now, limit: 5)
        #expect(count.counts == [5, 0])
        while !count.step(new.scheduler, new.now) {}
        #expect(count.counts == [1, 0] && count.from == new.now.wall)
    }
}
