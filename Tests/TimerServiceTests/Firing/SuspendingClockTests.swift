import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// The clock that counts only while the server is up.
struct SuspendingClockTests {
    private let time = ManualTime()

    /// Nanoseconds on the suspending clock.
    private func reading(_ clock: inout ServiceClock, isUp: Bool = true) -> Int64 {
        clock.now(isUp: isUp).nanoseconds(on: .suspending)
    }

    @Test func `it counts while it is read at least every second`() {
        var clock = ServiceClock(time, after: nil)
        let start = reading(&clock)
        for _ in 0..<100 {
            time.pass(milliseconds: 1000)
            _ = clock.now()
        }
        #expect(reading(&clock) - start == 100_000_000_000)
    }

    @Test(arguments: [1101, 1499, 30_000, 86_400_000] as [Int64])
    func `a time in which it was not read does not count`(milliseconds: Int64) {
        var clock = ServiceClock(time, after: nil)
        let start = reading(&clock)
        time.pass(milliseconds: milliseconds)
        #expect(reading(&clock) == start)
        time.pass(milliseconds: 1000)
        #expect(reading(&clock) - start == 1_000_000_000)
    }

    @Test func `it stands while the server is not up, and never goes back`() {
        var clock = ServiceClock(time, after: nil)
        let start = reading(&clock)
        for _ in 0..<1000 {
            time.pass(nanoseconds: 1_700_000)
            let now = reading(&clock, isUp: false)
            #expect(now >= start && now - start < 1_000_000)
        }
        let stood = reading(&clock)
        time.pass(milliseconds: 500)
        #expect(reading(&clock) - stood == 500_000_000)
    }

    @Test(arguments: [false, true])
    func `over a restart it goes on where the last row was`(reboots: Bool) {
        var clock = ServiceClock(time, after: nil)
        time.pass(milliseconds: 1234)
        let base = clock.base(at: clock.now())
        let stood = base.now.nanoseconds(on: .suspending)
        time.pass(milliseconds: 900)
        if reboots { time.reboot(milliseconds: 100_000) } else { time.pass(nanoseconds: 3_600_000_000_001) }
        var again = ServiceClock(time, after: base)
        let now = reading(&again)
        #expect(now <= stood && stood - now < 1_000_000)
        time.pass(milliseconds: 1000)
        #expect(reading(&again) - now == 1_000_000_000)
    }

    @Test func `a step of the calendar does not move it`() {
        var clock = ServiceClock(time, after: nil)
        let start = reading(&clock)
        time.step(milliseconds: 3_600_000)
        #expect(reading(&clock) == start)
    }
}

/// Watchdogs over outages of every kind.
struct OutageTests {
    private static let period: Int64 = 10_000

    private func rig(_ store: any LogStore = MemoryLogStore()) throws -> Rig {
        let rig = try Rig(store)
        try rig.create("dog", TimerRules(.watchdog(Self.period)))
        rig.fire()
        try rig.settle()
        return rig
    }

    private func fires(_ rig: Rig) throws -> Int {
        try rig.settle()
        return try rig.records().count { if case .event(.fired, _, _) = $0.content { true } else { false } }
    }

    /// Runs the server for that many seconds.
    private func run(_ rig: Rig, seconds: Int) {
        for _ in 0..<seconds * 2 {
            rig.time.pass(milliseconds: 500)
            rig.fire()
        }
    }

    @Test func `a stand-still raises no alarm, the time that is left does`() throws {
        let rig = try rig()
        run(rig, seconds: 6)
        rig.time.pass(milliseconds: 3_600_000)
        rig.fire()
        run(rig, seconds: 3)
        #expect(try fires(rig) == 0)
        run(rig, seconds: 2)
        #expect(try fires(rig) == 1)
        rig.stop()
    }

    @Test(arguments: [101, 600, 1050, 1200, 60_000] as [Int64], [TimerClock.suspending, .continuous])
    func `after a stand-still of any length waiting kicks come first`(milliseconds: Int64, clock: TimerClock) throws {
        let rig = try Rig()
        let asked = Guarded(0)
        let reader = rig.shared.addReader { asked.withLock { $0 += 1 } }
        rig.fire()
        var rules = TimerRules(.watchdog(Self.period))
        rules.clock = clock
        try rig.create("dog", rules)
        // A new process begins as after a downtime, and fires nothing before its sockets were read.
        try rig.create("shot", TimerRules(.after(1)))
        rig.time.pass(milliseconds: 1)
        #expect(rig.engine.fire() == .held)
        reader.reportRead(round: 1)
        rig.fire()
        for _ in 0..<99 {
            rig.time.pass(milliseconds: 100)
            rig.fire()
        }
        rig.time.pass(milliseconds: 98)
        rig.fire()
        #expect(asked.value == 1)
        // All but a millisecond of the period has passed when the process is stopped.
        rig.time.pass(milliseconds: milliseconds)
        if clock == .suspending && milliseconds > 1100 {
            // The suspending clock does not count that time, so a millisecond is left.
            rig.fire()
            rig.time.pass(milliseconds: 1)
        }
        #expect(rig.engine.fire() == .held)
        rig.time.pass(milliseconds: 5)
        #expect(rig.engine.fire() == .held)
        #expect(asked.value == 2)
        try rig.apply("dog", .kick)
        reader.reportRead(round: 2)
        rig.fire()
        // The only fire is the shot's.
        #expect(try fires(rig) == 1)
        rig.stop()
    }

    @Test func `a loop that reads no sockets any more holds a watchdog up for a second`() throws {
        let rig = try Rig()
        _ = rig.shared.addReader {}
        try rig.create("dog", TimerRules(.watchdog(300)))
        rig.time.pass(milliseconds: 400)
        #expect(rig.engine.fire() == .held)
        for _ in 0..<10 {
            rig.time.pass(milliseconds: 100)
            #expect(rig.engine.fire() == .held)
        }
        rig.time.pass(milliseconds: 1)
        rig.fire()
        #expect(try fires(rig) == 1)
        rig.stop()
    }

    @Test func `without a watchdog no reader is asked`() throws {
        let rig = try Rig()
        let asked = Guarded(0)
        _ = rig.shared.addReader { asked.withLock { $0 += 1 } }
        try rig.create("shot", TimerRules(.after(300)))
        rig.time.pass(milliseconds: 60_000)
        rig.fire()
        #expect(try fires(rig) == 1)
        #expect(asked.value == 0)
        rig.stop()
    }

    @Test func `while the disk takes no writes no watchdog alarms`() throws {
        let store = FaultyLogStore()
        let rig = try rig(store)
        run(rig, seconds: 8)
        try rig.settle()
        store.failOpens(3)
        store.plan(.unknownAndLost)
        try rig.create("other")
        try eventually("storage fails") { rig.locked { $0.storageFails } }
        for _ in 0..<60 {
            rig.time.pass(milliseconds: 1000)
            rig.fire()
            _ = rig.engine.turn { $0.now }
        }
        try rig.settle()
        run(rig, seconds: 1)
        #expect(try fires(rig) == 0)
        run(rig, seconds: 2)
        #expect(try fires(rig) == 1)
        rig.stop()
    }

    @Test func `a row tells the time at least every ten seconds while a watchdog runs, and no more once none does`()
        throws
    {
        let rig = try Rig()
        try rig.create("dog", TimerRules(.watchdog(3_600_000)))
        rig.fire()
        try rig.settle()
        var newest = rig.engine.durableHead
        for _ in 0..<5 {
            run(rig, seconds: 10)
            try rig.settle()
            #expect(rig.engine.durableHead > newest)
            newest = rig.engine.durableHead
        }
        try rig.apply("dog", .cancel)
        rig.fire()
        try rig.settle()
        newest = rig.engine.durableHead
        run(rig, seconds: 30)
        try rig.settle()
        #expect(rig.engine.durableHead == newest)
        rig.stop()
    }

    @Test func `after a crash at most ten seconds that the server was up do not count`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        try rig.create("dog", TimerRules(.watchdog(60_000)))
        rig.fire()
        run(rig, seconds: 50)
        try rig.settle()
        // The process dies here: nothing more is written.
        rig.time.pass(milliseconds: 3_600_000)
        let again = try Rig(store, time: rig.time)
        let left = again.engine.turn { turn in
            let due = turn.find(again.key("dog")).map { slot in
                turn.read { (scheduler: borrowing Scheduler) in scheduler.progress(slot).due }
            }
            return turn.now.millisecondsLeft(until: due ?? 0, on: .suspending)
        }
        #expect(left >= 10_000 && left <= 20_000)
        again.stop()
        rig.stop()
    }
}
