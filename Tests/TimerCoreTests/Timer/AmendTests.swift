import Testing

@testable import TimerCore

private let noneFits = TimerRefusal.invalidSchedule(
    pointer: "/until", reason: "no fire is due at or before `until`")

/// A change of the schedule (PATCH).
struct AmendScheduleTests {
    static let changes: [@Sendable (inout TimerRules) -> Void] = [
        { $0.schedule = .every(200, first: .period) }, { $0.schedule = .every(100, first: .after(200)) },
        { $0.schedule = .after(200) },
        {
            $0.schedule = .at(Bench.wall(250))
            $0.clock = .wall
        },
    ]

    @Test(arguments: changes.indices)
    func `running, the full period counts from now`(change: Int) throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.advance(50)
        #expect(try bench.amend(Self.changes[change]) == ["rescheduled"])
        #expect(try bench.due() == 250)
        #expect(bench.advance(199) == [])
        #expect(bench.advance(1).first == "fired due 250")
    }

    @Test func `a change of clock or mode counts anew as well`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.advance(50)
        #expect(try bench.amend { $0.clock = .wall } == ["rescheduled"])
        #expect(try bench.due() == 150)
        bench.advance(50)
        #expect(try bench.amend { $0.mode = .fixedDelay } == ["rescheduled"])
        #expect(try bench.due() == 200)
        bench.stepWall(-100)
        #expect(bench.advance(199) == [])
        #expect(bench.advance(1) == ["fired due 200"])
    }

    @Test func `idle stays idle`() throws {
        let bench = Bench()
        try bench.make(rules(.after(100)), in: .idle)
        #expect(try bench.amend { $0.schedule = .after(300) } == ["updated"])
        #expect(try bench.progress().state == .idle)
        try bench.apply(.activate)
        #expect(try bench.due() == 400)
    }

    @Test(arguments: ResumePolicy.allCases)
    func `suspended stays so, with the full period anew`(policy: ResumePolicy) throws {
        let bench = Bench()
        try bench.create(rules(.after(100)) { $0.onResume = policy })
        bench.advance(50)
        try bench.apply(.suspend)
        #expect(try bench.amend { $0.schedule = .after(300) } == ["rescheduled"])
        #expect(try bench.progress().state == .suspended)
        #expect(try bench.progress().due == (policy == .remaining ? 300_000 : Bench.elapsedStart + 350))
        bench.advance(200)
        try bench.apply(.resume)
        #expect(try bench.due() == (policy == .remaining ? 550 : 350))
    }

    @Test(arguments: [TimerState.cancelled, .completed], [false, true])
    func `an ended timer's schedule stays`(state: TimerState, restartable: Bool) throws {
        let bench = Bench()
        try bench.make(rules(.after(100)) { $0.restartable = restartable }, in: state)
        let before = try bench.progress()
        #expect(throws: TimerRefusal.illegalChange(state: state, restartable: restartable)) {
            try bench.amend(if: .oneOf([99])) { $0.schedule = .after(200) }
        }
        #expect(throws: noneFits) {
            try bench.amend {
                $0.schedule = .after(200)
                $0.until = Bench.wall(0)
            }
        }
        #expect(try bench.progress() == before && bench.rules().schedule == .after(100))
    }

    @Test func `leaving all equal keeps the pending fire`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.advance(130)
        #expect(
            try bench.amend(labels: [("a", "b")]) {
                $0.schedule = .every(100, first: .period)
                $0.onResume = .skip
            } == ["updated"])
        #expect(try bench.due() == 200)
        #expect(bench.advance(70) == ["fired due 200"])
    }

    @Test func `a schedule none of whose fires fits is refused, and nothing changes`() throws {
        for state in [TimerState.idle, .running, .suspended] {
            let bench = Bench()
            try bench.make(rules(.after(100)) { $0.until = Bench.wall(900) }, in: state)
            let before = try bench.progress()
            #expect(throws: noneFits) { try bench.amend(if: .oneOf([99])) { $0.schedule = .after(801) } }
            #expect(try bench.progress() == before && bench.rules().schedule == .after(100))
        }
    }
}

/// A change of anything but the schedule (PATCH).
struct AmendTests {
    @Test(arguments: [TimerState.idle, .running, .suspended, .cancelled, .completed])
    func `changing nothing at all is no event and no version`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.every(100, first: .after(200))), in: state)
        let before = try bench.progress()
        bench.pass(5)
        #expect(try bench.amend { _ in } == [])
        #expect(try bench.progress() == before)
        #expect(throws: TimerRefusal.versionMismatch(current: before.version)) {
            try bench.amend(if: .oneOf([before.version + 1])) { _ in }
        }
    }

    @Test(arguments: [TimerState.idle, .running, .suspended, .cancelled, .completed])
    func `labels and flags change in every state`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.after(200)), in: state)
        let before = try bench.progress()
        bench.pass(7)
        #expect(try bench.amend(labels: [("k", "v")]) { $0.restartable = true } == ["updated"])
        let after = try bench.progress()
        #expect(after.state == state && after.due == before.due && after.version == before.version + 1)
        #expect(after.updatedAt == Bench.wall(107) && after.fireCount == before.fireCount)
        #expect(bench.scheduler.narrowest(labels: [Bench.encoded([("k", "v")])]) != .all)
    }

    @Test(arguments: [TimerState.cancelled, .completed])
    func `retain of an ended timer counts from its end`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.after(200)) { $0.retain = 1000 }, in: state)
        bench.advance(500)
        #expect(try bench.amend { $0.retain = 2000 } == ["updated"])
        #expect(bench.advance(1499) == [])
        #expect(try bench.amend { $0.retain = 3000 } == ["updated"])
        #expect(bench.advance(900) == [])
        #expect(try bench.amend { $0.retain = 5 } == ["updated"])
        #expect(bench.untilWake <= 0)
        #expect(bench.advance() == ["deleted expired"])
    }

    @Test func `retain of a timer that has not ended counts once it does`() throws {
        let bench = Bench()
        try bench.create(rules(.after(200)))
        try bench.amend { $0.retain = 10 }
        #expect(try bench.due() == 200)
        #expect(bench.advance(200) == ["fired due 200", "completed"])
        #expect(bench.advance(10) == ["deleted expired"])
    }

    @Test func `until may move while a fire still fits`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        #expect(try bench.amend { $0.until = Bench.wall(200) } == ["updated"])
        #expect(try bench.due() == 100)
        #expect(throws: noneFits) { try bench.amend { $0.until = Bench.wall(99) } }
        #expect(throws: noneFits) { try bench.amend(if: .oneOf([99])) { $0.until = Bench.wall(99) } }
        #expect(bench.advance(300) == ["fired due 100", "fired due 200", "completed"])
    }

    @Test func `until goes with null`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.until = Bench.wall(100) })
        try bench.amend { $0.until = nil }
        #expect(bench.advance(200) == ["fired due 100", "fired due 200"])
    }

    @Test(arguments: [TimerState.idle, .suspended, .cancelled, .completed])
    func `until is not watched while a timer does not run`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.every(300, first: .period)) { $0.restartable = true }, in: state)
        #expect(try bench.amend { $0.until = Bench.wall(50) } == ["updated"])
        #expect(try bench.progress().state == state)
        let started = try bench.apply(state == .suspended ? .resume : .activate)
        #expect(started.last == "completed" && started.count == 2)
    }

    @Test func `other fields change after a step of the calendar past until`() throws {
        let bench = Bench()
        try bench.create(rules(.after(100)) { $0.until = Bench.wall(500) })
        bench.stepWall(5000)
        #expect(try bench.amend { $0.restartable = true } == ["updated"])
    }

    @Test func `maxFires that is reached completes a running timer`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.advance(300)
        #expect(try bench.amend { $0.maxFires = 4 } == ["updated"])
        #expect(try bench.amend { $0.maxFires = 3 } == ["updated", "completed"])
        #expect(Set(bench.effects.map(\.progress.version)).count == 1)
        #expect(bench.advance(1000) == [])
    }

    @Test func `maxFires that is reached completes a suspended timer at resume`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.advance(300)
        try bench.apply(.suspend)
        #expect(try bench.amend { $0.maxFires = 2 } == ["updated"])
        #expect(try bench.apply(.resume) == ["resumed", "completed"])
    }

    @Test func `a suspended timer's time left becomes an instant, and back`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        bench.pass(400)
        try bench.apply(.suspend)
        bench.pass(1000)
        #expect(try bench.amend { $0.onResume = .deadline } == ["updated"])
        #expect(try bench.progress().due == Bench.elapsedStart + 2000)
        bench.pass(100)
        try bench.amend { $0.onResume = .skip }
        #expect(try bench.progress().due == Bench.elapsedStart + 2000)
        try bench.amend { $0.onResume = .remaining }
        #expect(try bench.progress().due == 500_000)
        bench.pass(9000)
        try bench.apply(.resume)
        #expect(try bench.due() == 11_000)
    }

    @Test func `creation stays when it was`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        bench.pass(77)
        try bench.amend { $0.restartable = true }
        try bench.replace(rules(.after(5)))
        let createdAt = bench.scheduler.withDefinition(try bench.slot()) { Definition.layout($0)?.createdAt }
        #expect(createdAt == Bench.wallStart)
    }
}
