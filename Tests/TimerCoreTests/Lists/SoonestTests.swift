import TestSupport
import Testing

@testable import TimerCore

/// Searches for the timers that are due soonest.
struct SoonestTests {
    /// Limits at which a step looks at one run of entries, at a few, or at everything.
    static let stepLimits = [1, 500, SoonestSearch.stepLimit]

    private static func fill(_ bench: Bench, _ random: inout SeededGenerator) throws {
        for index in 0..<400 {
            let ahead = random.number(0...1 << random.number(0...35))
            let schedule: Schedule = random.chance(oneIn: 3) ? .at(Bench.wall(ahead - 500)) : .after(ahead / 64 * 64)
            try bench.create(rules(schedule) { if index % 5 == 0 { $0.clock = .wall } }, id: "t\(index)")
            if random.chance(oneIn: 6) { try bench.apply(.suspend, id: "t\(index)") }
            if random.chance(oneIn: 6) { _ = try? bench.apply(.cancel, id: "t\(index)") }
            // This leaves dead entries behind.
            if random.chance(oneIn: 3) { try bench.replace(rules(.after(ahead / 2)), id: "t\(index)") }
        }
    }

    private static func expected(_ bench: Bench) throws -> [(place: Scheduler.DuePlace, id: String)] {
        try (0..<400).compactMap { index in
            let id = "t\(index)"
            guard bench.exists(id), try bench.progress(id).state == .running else { return nil }
            let due = Bench.wall(try bench.due(id))
            return (Scheduler.DuePlace(due: due, place: bench.key(id).hash), id)
        }.sorted { $0.place < $1.place }
    }

    @Test(arguments: [1, 7, 100, 1000], stepLimits)
    func `pages are those of a sorted list`(limit: Int, stepLimit: Int) throws {
        var random = SeededGenerator(seed: UInt64(limit))
        let bench = Bench()
        try Self.fill(bench, &random)
        bench.advance(random.number(1...100_000), limit: 50)
        bench.stepWall(-3000)
        let expected = try Self.expected(bench)
        try #require(expected.count > 100)
        #expect(bench.soonest(by: limit, stepLimit: stepLimit) == expected.map(\.id))
    }

    @Test(arguments: [1, 9, 1000], stepLimits)
    func `timers of one instant come in list order, over pages`(limit: Int, stepLimit: Int) throws {
        let bench = Bench()
        let ids = (0..<600).map { "t\($0)" }
        for id in ids { try bench.create(rules(.after(50)), id: id) }
        #expect(
            bench.soonest(by: limit, stepLimit: stepLimit) == ids.sorted { bench.key($0).hash < bench.key($1).hash })
    }

    @Test(arguments: [9, 40, 3000])
    func `thousands within one slot, of any clock, kicked, late and cancelled`(limit: Int) throws {
        var random = SeededGenerator(seed: 5)
        let bench = Bench()
        for index in 0..<3000 {
            let ahead = 30_000 + random.number(0...15) * 60
            let isDog = random.chance(oneIn: 4)
            let isCalendars = random.chance(oneIn: 4)
            let rules = rules(isDog ? .watchdog(ahead) : isCalendars ? .at(Bench.wall(ahead)) : .after(ahead)) {
                $0.clock = isCalendars && !isDog ? .wall : random.chance(oneIn: 4) ? .suspending : .continuous
                if isDog && random.chance(oneIn: 3) { $0.until = Bench.wall(29_000) + ahead / 10 }
            }
            _ = try? bench.create(rules, id: "t\(index)")
        }
        bench.down(70)
        for index in 0..<3000 where bench.exists("t\(index)") {
            if random.chance(oneIn: 3) { _ = try? bench.apply(.kick, id: "t\(index)") }
            if random.chance(oneIn: 9) { try bench.delete(id: "t\(index)") }
        }
        let expected = try (0..<3000).filter { bench.exists("t\($0)") }.map { "t\($0)" }.filter {
            try bench.progress($0).isPlanned
        }.sorted { try (bench.due($0), bench.key($0).hash) < (bench.due($1), bench.key($1).hash) }
        try #require(expected.count > 2000)
        let found = bench.soonest(by: limit, stepLimit: limit == 40 ? 5000 : SoonestSearch.stepLimit)
        #expect(found == expected)
    }

    @Test(arguments: [1, 5, 1000], stepLimits)
    func `what is left of one wheel is not looked for in the other`(limit: Int, stepLimit: Int) throws {
        let bench = Bench()
        let ids = (0..<600).map { "t\($0)" }
        for (index, id) in ids.enumerated() { try bench.create(rules(.after(1_000_000 + Int64(index))), id: id) }
        #expect(bench.soonest(by: limit, stepLimit: stepLimit) == ids)
        try bench.create(rules(.at(Bench.wall(2_000_000))) { $0.clock = .wall }, id: "calendar")
        #expect(bench.soonest(by: limit, stepLimit: stepLimit) == ids + ["calendar"])
    }

    @Test(arguments: [-3_600_000, 0, 3_600_000] as [Int64])
    func `a place may be any instant, after whatever step of the calendar`(step: Int64) throws {
        let bench = Bench()
        try bench.create(rules(.after(50)), id: "a")
        bench.stepWall(step)
        for (due, names) in [(.min, ["a"]), (0, ["a"]), (.max, [])] as [(Int64, [String])] {
            var after: Scheduler.DuePlace? = Scheduler.DuePlace(due: due, place: 0)
            #expect(bench.soonest(after: &after, limit: 1) == names)
            #expect(after == nil)
        }
    }

    @Test func `of what is dealt out no more is looked at than may be wanted`() throws {
        let bench = Bench()
        let ids = (0..<3000).map { "t\($0)" }
        for (index, id) in ids.enumerated() { try bench.create(rules(.after(70 + Int64(index / 100))), id: id) }
        // Some have fired, and the others of their slot have yet to.
        bench.advance(80, limit: 500)
        let left = ids.filter { (try? bench.progress($0).isPlanned) ?? false }
        try #require(left.count > 1000)
        let sorted = try left.sorted { try (bench.due($0), bench.key($0).hash) < (bench.due($1), bench.key($1).hash) }
        #expect(bench.soonest(by: 7, stepLimit: SoonestSearch.stepLimit) == sorted)
    }

    /// The reasons for which many timers are in no slot of a wheel.
    enum Crowd: CaseIterable {
        case catchingUp, awaitingRebuild, inTransit
    }

    @Test(arguments: Crowd.allCases)
    func `a step looks at a bounded number of timers wherever they wait`(crowd: Crowd) throws {
        let bench = Bench()
        let ids = (0..<4000).map { "t\($0)" }
        for (index, id) in ids.enumerated() {
            switch crowd {
            case .catchingUp:
                try bench.create(
                    rules(.every(10_000, first: .after(1000 + Int64(index)))) { $0.misfire = .all }, id: id)
            case .awaitingRebuild: try bench.create(rules(.at(Bench.wall(50_000_000 + Int64(index)))), id: id)
            case .inTransit: try bench.create(rules(.after(200_000 + Int64(index / 100))), id: id)
            }
        }
        switch crowd {
        case .catchingUp:
            bench.pass(100_000)
            bench.scheduler.noteLoopStall(until: bench.now)
            var effects: [Effect] = []
            for _ in 0..<80 { _ = bench.scheduler.advance(to: bench.now, limit: 512, &effects) }
            bench.scheduler.finishStep()
            let waiting = bench.scheduler.catchUp.count
            try #require(waiting > 3900)
        case .awaitingRebuild: bench.stepWall(-3_600_000)
        case .inTransit:
            var effects: [Effect] = []
            bench.pass(199_700)
            _ = bench.scheduler.advance(to: bench.now, limit: 20, &effects)
        }
        let expected = try ids.sorted { try (bench.due($0), bench.key($0).hash) < (bench.due($1), bench.key($1).hash) }
        var steps = 0
        var after: Scheduler.DuePlace?
        let found = bench.soonest(after: &after, limit: 1000, stepLimit: 4096) { steps += 1 }
        #expect(found == Array(expected.prefix(1000)))
        // The search looks at each of the 4000 timers, which takes 16 of a step's limit.
        #expect(steps >= 5, "\(steps) steps")
    }

    @Test func `what was swept between two steps is searched anew`() throws {
        let bench = Bench()
        // The wheel advances to this instant, so that it does not come to the timers' slot by itself.
        bench.advance()
        let ids = (0..<600).map { "t\($0)" }
        for (index, id) in ids.enumerated() {
            try bench.create(rules(.after(47_000 + Int64(index * 211 % 600))), id: id)
        }
        var armings = 0
        func armAgain() {
            armings += 1
            _ = try? bench.amend(id: ids[armings % 600], labels: [("n", "\(armings)")]) { _ in }
        }
        // Nearly as many dead entries as make the wheel sweep.
        for _ in 0..<4690 { armAgain() }
        let found = bench.soonest(by: 600, stepLimit: 2000) {
            for _ in 0..<20 { armAgain() }
            bench.advance(1)
        }
        #expect(bench.scheduler.elapsedWheel.sweeps > 0)
        #expect(found == (0..<600).map { "t\($0 * 91 % 600)" })
    }

    /// Timers come, go, move and are armed again in place while time passes, so that the wheel cascades and is swept.
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `a timer that keeps its place is found once and in order, whatever happens between steps`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let bench = Bench()
        let staying = Set((0..<1500).map { "stay\($0)" })
        for id in staying.sorted() {
            try bench.create(rules(.after(40_000 + random.number(0...20) * 50)), id: id)
        }
        for index in 0..<1500 { try bench.create(rules(.after(random.number(1...41_000))), id: "t\(index)") }
        var left: Int64 = 39_000
        let found = bench.soonest(by: 200, stepLimit: 3000) {
            for _ in 0..<20 {
                let id = "t\(random.number(0...1499))"
                _ = bench.exists(id) ? try? bench.delete(id: id) : []
                _ = try? bench.create(rules(.after(random.number(1...41_000))), id: id)
                let moved = "t\(random.number(0...1499))"
                _ = try? bench.apply(.reschedule, id: moved, .after(random.number(1...41_000)))
                _ = try? bench.amend(id: "stay\(random.number(0...1499))", labels: [("n", "\(random.next())")]) { _ in }
            }
            if random.chance(oneIn: 200) {
                for id in staying { _ = try? bench.amend(id: id, labels: [("n", "\(random.next())")]) { _ in } }
            }
            let passing = min(left, random.number(0...random.number(0...900)))
            left -= passing
            bench.advance(passing, limit: 5 + Int(random.number(0...500)))
        }
        let expected = try staying.sorted {
            try (bench.due($0), bench.key($0).hash) < (bench.due($1), bench.key($1).hash)
        }
        #expect(found.filter { staying.contains($0) } == expected)
    }
}

extension Bench {
    /// Returns the names on one page. Expects each timer to be due as the page says, after those of the page before.
    func soonest(
        after: inout Scheduler.DuePlace?, limit: Int, stepLimit: Int = SoonestSearch.stepLimit,
        between: () -> Void = {}
    ) -> [String] {
        var search = SoonestSearch(after: after, limit: limit)
        while !search.step(scheduler, now, limit: stepLimit) { between() }
        var before = after
        after = search.next
        return search.found.map { entry in
            let id = id(entry.slot)
            let due = try? due(id)
            #expect(scheduler.progress(entry.slot).isPlanned && due.map(Bench.wall) == entry.place.due)
            #expect(before.map { $0 < entry.place } ?? true && after.map { entry.place <= $0 } ?? true)
            before = entry.place
            return id
        }
    }

    /// Returns the names on all pages.
    func soonest(by limit: Int, stepLimit: Int, between: () -> Void = {}) -> [String] {
        var names: [String] = []
        var after: Scheduler.DuePlace?
        repeat {
            let page = soonest(after: &after, limit: limit, stepLimit: stepLimit, between: between)
            #expect(page.count <= limit)
            names += page
            between()
        } while after != nil && names.count < 10_000
        return names
    }
}
