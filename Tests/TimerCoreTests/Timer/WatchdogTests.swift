import Testing

@testable import TimerCore

/// Watchdogs that are not kicked in time.
struct WatchdogTests {
    private func bench(_ edit: (inout TimerRules) -> Void = { _ in }) throws -> Bench {
        let bench = Bench()
        try bench.create(rules(.watchdog(100), edit))
        return bench
    }

    @Test func `one that is kicked in time never fires`() throws {
        let bench = try bench()
        for _ in 0..<20 {
            #expect(bench.advance(99) == [])
            #expect(try bench.apply(.kick) == ["untold"])
        }
        #expect(try bench.kicks().kickCount == 20)
        #expect(try bench.kicks().lastKickedAt == bench.now.wall)
        #expect(try bench.progress().version == 21)
        #expect(try bench.progress().fireCount == 0)
    }

    @Test func `silence is told once, at the instant it is too long`() throws {
        let bench = try bench()
        bench.advance(40)
        try bench.apply(.kick)
        #expect(bench.advance(99) == [])
        #expect(bench.advance(1) == ["fired stalled 140"])
        #expect(bench.advance(10_000) == [])
        #expect(try bench.progress().state == .running)
        #expect(try bench.progress().flags == [.stalled, .unplanned])
        #expect(try !bench.progress().isPlanned)
        #expect(bench.untilWake == .max)
    }

    @Test func `a kick after the alarm is told with how long the stall was`() throws {
        let bench = try bench()
        bench.advance(100)
        bench.advance(250)
        #expect(try bench.apply(.kick) == ["recovered"])
        #expect(bench.effects.first?.stalledFor == 250)
        #expect(bench.effects.first?.silentFor == 350)
        #expect(try bench.progress().flags == [])
        #expect(bench.advance(100) == ["fired stalled 450"])
    }

    @Test func `the stall lasts from the alarm, not from the last of several`() throws {
        let bench = try bench { $0.repeatAlarm = true }
        #expect(bench.advance(100) == ["fired stalled 100"])
        #expect(bench.advance(100) == ["fired stalled 200"])
        #expect(bench.advance(150) == ["fired stalled 300"])
        #expect(try bench.kicks().stalledSince == Bench.elapsedStart + 100)
        #expect(try bench.due() == 400)
        try bench.apply(.kick)
        #expect(bench.effects.first?.stalledFor == 250)
        #expect(try bench.due() == 450)
    }

    @Test func `silence lasts from the kick before`() throws {
        let bench = try bench()
        bench.advance(30)
        try bench.apply(.kick)
        bench.advance(100)
        bench.advance(70)
        #expect(try bench.apply(.kick) == ["recovered"])
        #expect(bench.effects.first?.stalledFor == 70)
        #expect(bench.effects.first?.silentFor == 170)
    }

    @Test func `without a kick silence lasts by the calendar from when it was set going`() throws {
        let bench = try bench()
        bench.down(500)
        bench.advance(120)
        try bench.apply(.kick)
        #expect(bench.effects.first?.stalledFor == 20)
        #expect(bench.effects.first?.silentFor == 620)
        let resumed = try self.bench()
        resumed.advance(60)
        try resumed.apply(.suspend)
        resumed.advance(1000)
        try resumed.apply(.resume)
        #expect(try resumed.kicks().lastKickedAt == 0)
        resumed.advance(150)
        try resumed.apply(.kick)
        #expect(resumed.effects.first?.silentFor == 150)
    }

    @Test func `the watchdogs that alarm now are found, and no others`() throws {
        let bench = Bench()
        func alarming() -> Int {
            var found = 0
            bench.scheduler.walk(after: nil, over: .alarming) { _, slot in
                #expect(bench.scheduler.progress(slot).isAlarming)
                found += 1
                return true
            }
            #expect(found == bench.scheduler.alarmingCount)
            return found
        }
        #expect(alarming() == 0)
        try bench.create(rules(.watchdog(100)) { $0.restartable = true })
        #expect(alarming() == 0)
        bench.advance(100)
        #expect(alarming() == 1)
        try bench.apply(.kick)
        #expect(alarming() == 0)
        bench.advance(100)
        try bench.apply(.suspend)
        #expect(alarming() == 0)
        try bench.apply(.resume)
        #expect(alarming() == 0)
        bench.advance(100)
        #expect(alarming() == 1)
        try bench.replace(rules(.watchdog(100)))
        #expect(alarming() == 0)
        bench.advance(100)
        #expect(alarming() == 1)
        try bench.delete()
        #expect(alarming() == 0)
    }

    @Test func `several misses make one alarm`() throws {
        let bench = try bench {
            $0.misses = 3
            $0.repeatAlarm = true
        }
        #expect(bench.advance(299) == [])
        #expect(bench.advance(1) == ["fired stalled 300"])
        #expect(bench.advance(100) == ["fired stalled 400"])
        try bench.apply(.kick)
        #expect(bench.advance(299) == [])
        #expect(bench.advance(1) == ["fired stalled 700"])
    }

    @Test func `an outage of the server is no silence of the client`() throws {
        let bench = try bench()
        bench.advance(60)
        bench.down(1_000_000)
        #expect(bench.advance(39) == [])
        #expect(bench.advance(1) == ["fired stalled 1000100"])
    }

    @Test(arguments: [TimerClock.continuous, .wall])
    func `on another clock the outage counts, and is one alarm`(clock: TimerClock) throws {
        let bench = try bench {
            $0.clock = clock
            $0.repeatAlarm = true
        }
        #expect(bench.stall(1250) == ["fired stalled 1200 missed 11"])
        #expect(try bench.due() == 1300)
    }

    @Test func `a kick while suspended changes nothing, and resume gives a full period`() throws {
        let bench = try bench()
        bench.advance(100)
        try bench.apply(.suspend)
        let before = try bench.progress()
        #expect(try bench.apply(.kick) == [])
        #expect(try bench.progress() == before)
        #expect(try bench.kicks().kickCount == 0)
        bench.advance(5000)
        #expect(try bench.apply(.resume) == ["recovered", "resumed"])
        #expect(try bench.progress().flags == [])
        #expect(bench.advance(99) == [])
        #expect(bench.advance(1) == ["fired stalled 5200"])
    }

    @Test func `fire leaves its health and its period alone`() throws {
        let bench = try bench()
        bench.advance(30)
        #expect(try bench.apply(.fire) == ["fired manual 30"])
        #expect(try bench.progress().flags == [])
        #expect(bench.advance(70) == ["fired stalled 100"])
        #expect(try bench.apply(.fire) == ["fired manual 100"])
        #expect(try bench.progress().flags == [.stalled, .unplanned])
    }

    @Test func `reschedule moves the next alarm, that of a stalled one too`() throws {
        let bench = try bench()
        try bench.apply(.reschedule, .after(300))
        #expect(bench.advance(299) == [])
        #expect(bench.advance(1) == ["fired stalled 300"])
        try bench.apply(.reschedule, .after(50))
        #expect(bench.advance(50) == ["fired stalled 350"])
        // A kick gives the full period from now, which ends before the instant that was asked for.
        try bench.apply(.reschedule, .after(10_000))
        #expect(try bench.apply(.kick) == ["recovered"])
        #expect(bench.advance(100) == ["fired stalled 450"])
    }

    @Test func `it is watched up to until, and completes then`() throws {
        let bench = try bench { $0.until = Bench.wall(250) }
        bench.advance(90)
        try bench.apply(.kick)
        bench.advance(90)
        try bench.apply(.kick)
        #expect(bench.advance(69) == [])
        #expect(bench.advance(1) == ["completed"])
    }

    @Test func `an alarm at until happens, and it completes`() throws {
        let bench = try bench { $0.until = Bench.wall(100) }
        #expect(bench.advance(100) == ["fired stalled 100", "completed"])
    }

    @Test func `a stalled one completes at until without another word`() throws {
        let bench = try bench { $0.until = Bench.wall(200) }
        #expect(bench.advance(100) == ["fired stalled 100"])
        #expect(bench.advance(99) == [])
        #expect(bench.advance(1) == ["completed"])
    }

    @Test func `maxFires counts alarms`() throws {
        let bench = try bench {
            $0.maxFires = 2
            $0.repeatAlarm = true
        }
        #expect(bench.advance(100) == ["fired stalled 100"])
        try bench.apply(.kick)
        #expect(bench.advance(100) == ["fired stalled 200", "completed"])
    }

    @Test func `repeatAlarm can be turned on and off during a stall`() throws {
        let bench = try bench()
        bench.advance(100)
        bench.advance(120)
        try bench.amend { $0.repeatAlarm = true }
        #expect(try bench.due() == 300)
        #expect(bench.advance(80) == ["fired stalled 300"])
        try bench.amend { $0.repeatAlarm = false }
        #expect(bench.advance(1000) == [])
        #expect(try bench.progress().flags == [.stalled, .unplanned])
    }

    @Test func `kicking does not touch the wheel`() throws {
        let bench = try bench()
        let held = bench.scheduler.elapsedWheel.count
        for _ in 0..<50 {
            bench.advance(1)
            try bench.apply(.kick)
        }
        #expect(bench.scheduler.elapsedWheel.count == held)
        #expect(bench.advance(99) == [])
        #expect(bench.advance(1) == ["fired stalled 150"])
    }

    @Test func `kick is for watchdogs that run`() throws {
        for state in TimerState.allCases where state != .running && state != .suspended {
            let bench = Bench()
            try bench.make(rules(.watchdog(100)), in: state)
            #expect(throws: TimerRefusal.illegalTransition(.kick, state: state, restartable: false, isWatchdog: true)) {
                try bench.apply(.kick)
            }
        }
        let bench = Bench()
        try bench.create(rules(.after(100)))
        #expect(throws: TimerRefusal.notAWatchdog(state: .running, restartable: false)) { try bench.apply(.kick) }
    }

    @Test func `a change of the period counts from the change, and heals`() throws {
        let bench = try bench()
        bench.advance(150)
        #expect(try bench.amend { $0.schedule = .watchdog(200) } == ["recovered", "rescheduled"])
        #expect(try bench.progress().flags == [])
        #expect(bench.advance(199) == [])
        #expect(bench.advance(1) == ["fired stalled 350"])
    }

    @Test(arguments: [Schedule.watchdog(100), .watchdog(300), .after(300)])
    func `one that is replaced while it is stalled recovers first`(schedule: Schedule) throws {
        let bench = try bench()
        bench.advance(40)
        try bench.apply(.kick)
        bench.advance(100)
        bench.advance(70)
        #expect(try bench.replace(rules(schedule)) == ["recovered", "updated", "activated"])
        #expect(bench.effects.first?.stalledFor == 70)
        #expect(bench.effects.first?.silentFor == 170)
        #expect(Set(bench.effects.map(\.progress.version)).count == 1)
        #expect(bench.effects.allSatisfy { !$0.progress.flags.contains(.stalled) })
        #expect(try bench.replace(rules(schedule)) == ["updated", "activated"])
    }

    @Test func `one that ended stalled recovers when it starts again`() throws {
        let bench = try bench { $0.restartable = true }
        bench.advance(150)
        #expect(try bench.apply(.cancel) == ["cancelled"])
        #expect(try bench.progress().flags == [.stalled])
        #expect(try bench.apply(.activate) == ["recovered", "activated"])
        #expect(try bench.apply(.cancel) == ["cancelled"])
        #expect(try bench.apply(.activate) == ["activated"])
    }

    @Test func `a changed period heals a suspended one too, other changes heal none`() throws {
        let bench = try bench()
        bench.advance(150)
        #expect(try bench.amend(labels: [("a", "b")]) { $0.maxFires = 9 } == ["updated"])
        try bench.apply(.suspend)
        #expect(try bench.progress().flags == [.stalled])
        #expect(try bench.amend { $0.schedule = .watchdog(200) } == ["recovered", "rescheduled"])
        #expect(try bench.apply(.resume) == ["resumed"])
    }

    @Test func `a watchdog keeps its health and its kicks over a restart`() throws {
        let bench = try bench { $0.repeatAlarm = true }
        bench.advance(50)
        try bench.apply(.kick)
        bench.advance(100)
        let (progress, kicks) = (try bench.progress(), try bench.kicks())
        bench.restart()
        #expect(try bench.progress() == progress)
        #expect(try bench.kicks() == kicks)
        #expect(bench.advance(100) == ["fired stalled 250"])
    }

    @Test func `when a watchdog fires next is not known`() throws {
        let bench = try bench()
        #expect(bench.scheduler.upcoming(try bench.slot(), bench.now, count: 5).all() == [])
        #expect(try bench.scheduler.preview(rules(.watchdog(5)), bench.now, count: 5).all() == [])
    }
}
