import Testing

@testable import TimerCore

/// Replacing a timer (PUT).
struct ReplaceTests {
    private static let states: [TimerState] = [.idle, .running, .suspended, .cancelled, .completed]

    @Test(arguments: states)
    func `it starts afresh in any state`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.after(1000)), in: state)
        let before = try bench.progress()
        bench.pass(50)
        #expect(try bench.replace(rules(.every(50_000_000, first: .after(100)))) == ["updated", "activated"])
        let after = try bench.progress()
        #expect(after.state == .running && after.version == before.version + 1)
        #expect(after.fireCount == before.fireCount && after.lastFiredAt == before.lastFiredAt)
        #expect(bench.effects.map(\.progress.version) == [after.version, after.version])
        // The instant at which the ended timer would have been deleted is cancelled.
        #expect(bench.advance(100_000_000) == ["fired due 250", "fired due 50000250"])
    }

    @Test(arguments: states)
    func `a manual one is idle`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.after(1000)), in: state)
        #expect(try bench.replace(rules(.after(10)) { $0.start = .manual }) == ["updated"])
        #expect(try bench.progress().state == .idle)
        #expect(bench.advance(200_000_000) == [])
    }

    @Test func `an identical one starts afresh`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        bench.advance(400)
        #expect(try bench.replace(rules(.after(1000))) == ["updated", "activated"])
        #expect(bench.advance(999) == [])
        #expect(bench.advance(1) == ["fired due 1400", "completed"])
    }

    @Test func `maxFires counts anew, fireCount goes on`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.maxFires = 3 })
        bench.advance(200)
        try bench.replace(rules(.every(100, first: .period)) { $0.maxFires = 3 })
        #expect(bench.advance(1000) == ["fired due 300", "fired due 400", "fired due 500", "completed"])
        #expect(try bench.progress().fireCount == 5)
    }

    @Test func `a schedule that never fires is refused before the version is looked at`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        let before = try bench.progress()
        let never = rules(.after(10)) { $0.until = Bench.wall(9) }
        let refusal = TimerRefusal.invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`")
        #expect(throws: refusal) { try bench.replace(never, if: .oneOf([99])) }
        #expect(throws: TimerRefusal.versionMismatch(current: 1)) {
            try bench.replace(rules(.after(1)), if: .oneOf([99]))
        }
        #expect(try bench.progress() == before && bench.rules() == rules(.after(1000)))
    }

    @Test func `labels move with it`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)), labels: [("a", "1"), ("b", "2")])
        try bench.replace(rules(.after(1000)), labels: [("b", "2"), ("c", "3")])
        for (label, count) in [(("a", "1"), 0), (("b", "2"), 1), (("c", "3"), 1)] {
            var found = 0
            bench.scheduler.walk(after: nil, over: .labelled(Bench.encoded([label]))) { _, _ in
                found += 1
                return true
            }
            #expect(found == count)
        }
    }
}

/// Ended timers are kept for their `retain`, then deleted.
struct RetainTests {
    @Test(arguments: [TimerState.cancelled, .completed], [0, 1, 1000, 86_400_000] as [Int64])
    func `an ended timer is deleted, reason expired`(state: TimerState, retain: Int64) throws {
        let bench = Bench()
        try bench.make(rules(.after(100)) { $0.retain = retain }, in: state)
        if retain > 0 { #expect(bench.advance(retain - 1, nanoseconds: 999_999) == []) }
        #expect(bench.exists())
        #expect(bench.advance(1) == ["deleted expired"])
        #expect(!bench.exists() && bench.scheduler.count == 0)
    }

    @Test func `steps of the calendar do not shorten it`() throws {
        let bench = Bench()
        try bench.create(rules(.at(Bench.wall(0))) { $0.retain = 1000 })
        bench.advance()
        bench.stepWall(1_000_000)
        #expect(bench.advance(999) == [])
        #expect(bench.advance(1) == ["deleted expired"])
    }

    @Test func `a restarted timer stays`() throws {
        let bench = Bench()
        try bench.create(
            rules(.after(100)) {
                $0.retain = 50
                $0.restartable = true
            })
        bench.advance(100)
        bench.pass(49)
        try bench.apply(.activate)
        #expect(bench.advance(99) == [])
        #expect(bench.advance(1) == ["fired due 249", "completed"])
        #expect(bench.advance(50) == ["deleted expired"])
    }

    @Test func `downtime counts`() throws {
        let bench = Bench()
        try bench.create(rules(.after(100)) { $0.retain = 1000 })
        bench.advance(100)
        bench.restart()
        #expect(bench.stall(1000) == ["deleted expired"])
    }
}

/// Versions grow with every change and never repeat for an id.
struct VersionTests {
    @Test func `every step has one version, one above the last`() throws {
        let bench = Bench()
        var seen: [Int64] = []
        func take() { seen += Array(Set(bench.effects.map(\.progress.version))).sorted() }
        try bench.create(rules(.every(100, first: .period)) { $0.maxFires = 2 })
        take()
        bench.advance(100)
        take()
        for command in [TimerCommand.suspend, .resume, .reschedule, .fire] {
            try bench.apply(command, command == .reschedule ? .after(5) : nil)
            take()
        }
        try bench.amend { $0.retain = 7 }
        take()
        try bench.delete()
        take()
        #expect(seen == Array(1...8))
    }

    @Test func `an id that comes again starts above where it ended`() throws {
        let bench = Bench()
        try bench.create(rules(.after(100)))
        try bench.apply(.suspend)
        try bench.delete()
        #expect(bench.effects.map(\.progress.version) == [3])
        try bench.create(rules(.after(100)))
        #expect(try bench.progress().version == 4)
        try bench.create(rules(.after(100)), id: "other")
        #expect(try bench.progress("other").version == 4)
    }

    @Test func `an expired one's id too, over a restart`() throws {
        let bench = Bench()
        try bench.create(rules(.after(100)) { $0.retain = 1 })
        bench.advance(100)
        bench.advance(1)
        #expect(!bench.exists())
        bench.restart()
        try bench.create(rules(.after(100)))
        #expect(try bench.progress().version == 4)
    }

    @Test func `a version condition takes any of its versions, or any at all`() throws {
        let bench = Bench()
        try bench.create(rules(.after(100)))
        #expect(throws: TimerRefusal.versionMismatch(current: 1)) { try bench.delete(if: .oneOf([])) }
        try bench.apply(.suspend, if: .exists)
        try bench.apply(.resume, if: .oneOf([1, 2]))
        #expect(throws: TimerRefusal.versionMismatch(current: 3)) { try bench.delete(if: .oneOf([1, 2])) }
        #expect(bench.exists())
        try bench.delete(if: .oneOf([3]))
        #expect(throws: TimerRefusal.notFound) { try bench.delete() }
    }
}
