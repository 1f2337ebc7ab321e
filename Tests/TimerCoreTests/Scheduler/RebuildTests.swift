import TestSupport
import Testing

@testable import TimerCore

/// Schedulers rebuilt from the log.
struct RebuildTests {
    @Test func `a folded scheduler goes on as the one before`() throws {
        var random = SeededGenerator(seed: 21)
        let (before, after) = (Bench(), Bench())
        let ids = (0..<60).map { "t\($0)" }
        for bench in [before, after] {
            var random = SeededGenerator(seed: 20)
            for id in ids {
                try bench.create(
                    rules(.every(random.number(1...60), first: .period)) {
                        $0.clock = random.chance(oneIn: 2) ? .wall : .continuous
                    }, id: id)
                bench.advance(random.number(0...3))
                if random.chance(oneIn: 3) { try bench.apply(.suspend, id: id) }
                if random.chance(oneIn: 5) { _ = try? bench.apply(.resume, id: id) }
                if random.chance(oneIn: 4) { try bench.delete(id: id) }
            }
        }
        after.restart(ids)
        #expect(after.scheduler.versionFloor == before.scheduler.versionFloor)
        for _ in 0..<100 {
            let step = random.number(0...20)
            #expect(before.advance(step).sorted() == after.advance(step).sorted())
        }
        for id in ids where before.exists(id) { #expect(try before.progress(id) == after.progress(id)) }
        for state in TimerState.allCases {
            #expect(before.scheduler.count(in: state) == after.scheduler.count(in: state))
        }
    }

    @Test func `of many timers folded at once each is found`() {
        var scheduler = Scheduler(secret: [])
        for index in 0..<20_000 {
            let definition = Bench.definition("t\(index)", rules(.after(1)))
            _ = scheduler.fold(
                definition: definition.span, isWhole: true, isCreation: true, progress: TimerProgress(), kicks: nil,
                position: Int64(index + 1), lastEvent: Int64(index + 1))
        }
        #expect(scheduler.count == 20_000)
        scheduler.indexFolded()
        #expect(scheduler.count == 20_000)
        for index in 0..<20_000 {
            let key = TimerKey(id: Array("t\(index)".utf8).span, siphash: scheduler.siphash)
            #expect(scheduler.find(key).map { scheduler.base($0) } == Int64(index + 1))
        }
    }

    @Test func `a timer that is defined anew is asked about as the new one`() throws {
        var scheduler = Scheduler(secret: [])
        let cron = try CronSchedule(Array("0 0 * * *".utf8), zone: Array("UTC".utf8), from: nil)
        let schedules: [Schedule] = [.after(1), .cron(cron), .after(1)]
        for (index, schedule) in schedules.enumerated() {
            let definition = Bench.definition("t", rules(schedule))
            _ = scheduler.fold(
                definition: definition.span, isWhole: true, progress: TimerProgress(), kicks: nil,
                position: Int64(index + 1), lastEvent: Int64(index + 1))
            #expect(scheduler.zonedTimers().count == (index == 1 ? 1 : 0))
        }
    }

    @Test func `a record of a timer that nothing defined is told`() {
        var scheduler = Scheduler(secret: [])
        let definition = Bench.definition("t", rules(.after(1)))
        let prefix = Array(definition.prefix(Definition.prefixCount(definition.span) ?? 0))
        let taken = [(prefix, false), (definition, true), (prefix, false)].enumerated().map { index, record in
            scheduler.fold(
                definition: record.0.span, isWhole: record.1, progress: TimerProgress(), kicks: nil,
                position: Int64(5 + index),
                lastEvent: Int64(5 + index))
        }
        #expect(taken == [false, true, true])
        #expect(scheduler.count == 1)
        scheduler.indexFolded()
        #expect(scheduler.count == 1)
        let slot = scheduler.find(TimerKey(definition: prefix.span, siphash: scheduler.siphash))
        #expect(slot.map { scheduler.base($0) } == 6 && slot.map { scheduler.lastRecord($0) } == 7)
    }

    @Test func `a folded deletion raises the floor of versions, known timer or not`() {
        var scheduler = Scheduler(secret: [])
        let definition = Bench.definition("t", rules(.after(1)))
        _ = scheduler.fold(
            definition: definition.span, isWhole: true, progress: TimerProgress(), kicks: nil, position: 6, lastEvent: 6
        )
        scheduler.foldDeletion(prefix: definition.span, version: 9, position: 5)
        #expect(scheduler.count == 0 && scheduler.versionFloor == 9)
        scheduler.foldDeletion(prefix: definition.span, version: 12, position: 6)
        scheduler.foldVersionFloor(3)
        #expect(scheduler.versionFloor == 12)
    }

    @Test func `only what can fire or be forgotten is armed`() throws {
        let bench = Bench()
        for state in TimerState.allCases {
            let timer = rules(.after(1000)) { $0.start = state == .idle ? .manual : .now }
            try bench.create(timer, id: "\(state.name)")
        }
        try bench.apply(.suspend, id: "suspended")
        try bench.apply(.cancel, id: "cancelled")
        try bench.apply(.fire, id: "completed")
        bench.restart(TimerState.allCases.map { "\($0.name)" })
        #expect(bench.scheduler.elapsedWheel.live == 3)
        #expect(bench.advance(1000) == ["fired due 1000", "completed"])
        #expect(bench.advance(100_000_000).sorted() == Array(repeating: "deleted expired", count: 3))
        #expect(bench.exists("idle") && bench.exists("suspended") && bench.scheduler.count == 2)
    }
}
