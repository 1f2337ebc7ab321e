import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct ServiceClockTests {
    let time = ManualTime()

    /// The source's calendar, in milliseconds.
    private var wall: Int64 { time.realtime() / 1_000_000 }

    @Test func `a new log's elapsed clock begins as the calendar`() {
        var clock = ServiceClock(time, after: nil)
        #expect(clock.now() == Now(elapsed: time.realtime(), wallOffset: 0))
        time.pass(nanoseconds: 1_234_567)
        #expect(clock.now() == Now(elapsed: time.realtime(), wallOffset: 0))
    }

    @Test func `elapsed never goes back, whatever the sources say`() {
        var clock = ServiceClock(time, after: nil)
        var generator = SeededGenerator(seed: 3)
        var last = clock.now().elapsed
        for _ in 0..<2000 {
            time.pass(nanoseconds: Int64.random(in: -5_000_000...10_000_000, using: &generator))
            if generator.chance(oneIn: 10) {
                time.step(milliseconds: Int64.random(in: -100_000...100_000, using: &generator))
            }
            let now = clock.now().elapsed
            #expect(now >= last)
            last = now
        }
    }

    @Test(arguments: [3_600_000, 1, -1, -3_600_000, 1500, -1500] as [Int64])
    func `a step of the calendar shows on the wall clock alone`(_ milliseconds: Int64) {
        var clock = ServiceClock(time, after: nil)
        let before = clock.now()
        time.step(milliseconds: milliseconds)
        let after = clock.now()
        #expect(after.elapsed == before.elapsed)
        #expect(after.wall == before.wall + milliseconds)
        #expect(clock.lastReading.wallOffset == milliseconds)
        time.pass(milliseconds: 10)
        #expect(clock.now() == Now(elapsed: before.elapsed + 10_000_000, wallOffset: milliseconds))
    }

    @Test func `the suspending clock stands for a while after a take-over, and goes on where it stood`() {
        var clock = ServiceClock(time, after: nil)
        let base = clock.base(at: clock.now())
        func suspending(_ now: Now) -> Int64 { now.elapsed / 1_000_000 - now.downtime }
        let before = suspending(base.now)
        time.pass(milliseconds: 4000)
        var taken = ServiceClock(time, after: base, patience: 1_000_000_000)
        for milliseconds in [0, 400, 599] as [Int64] {
            time.pass(milliseconds: milliseconds)
            #expect(suspending(taken.now()) == before)
        }
        time.pass(milliseconds: 1)
        #expect(suspending(taken.now()) == before)
        time.pass(milliseconds: 250)
        #expect(suspending(taken.now()) == before + 250)
    }

    @Test func `jitter of a reading is no step`() {
        var clock = ServiceClock(time, after: nil)
        for nanoseconds in [999_000, -999_000, 5, 0] as [Int64] {
            let shifted = ShiftedTime(time, by: nanoseconds)
            var jittery = ServiceClock(shifted, after: clock.base(at: clock.now()))
            #expect(jittery.now().wallOffset == 0)
        }
    }

    @Test func `a slow reading proves no step, a quick one does`() {
        var clock = ServiceClock(time, after: nil)
        time.takeTime(nanoseconds: 60_000)
        time.step(milliseconds: 5000)
        #expect(clock.now().wallOffset == 0)
        time.takeTime(nanoseconds: 10_000)
        #expect(clock.now().wallOffset == 5000)
    }

    @Test func `a restart in the same boot goes on exactly, downtime included`() {
        var clock = ServiceClock(time, after: nil)
        time.step(milliseconds: 777)
        let base = clock.base(at: clock.now())
        time.pass(milliseconds: 5000)
        // The calendar was set between two readings.
        time.step(milliseconds: -9000)
        var again = ServiceClock(time, after: base)
        let now = again.now()
        #expect(now.elapsed == base.now.elapsed + 5_000_000_000)
        #expect(now.wallOffset == 777 - 9000)
        #expect(now.wall == wall)
    }

    @Test func `after another boot the calendar says what elapsed`() {
        var clock = ServiceClock(time, after: nil)
        time.step(milliseconds: 777)
        let base = clock.base(at: clock.now())
        time.reboot(milliseconds: 60_000)
        var again = ServiceClock(time, after: base)
        let now = again.now()
        #expect(now.elapsed == base.now.elapsed + 60_000_000_000)
        #expect(now.wallOffset == 777)
        #expect(now.wall == wall)
    }

    @Test func `after another boot with the calendar set back nothing elapsed`() {
        var clock = ServiceClock(time, after: nil)
        let base = clock.base(at: clock.now())
        time.reboot(milliseconds: -60_000)
        var again = ServiceClock(time, after: base)
        let now = again.now()
        #expect(now.elapsed == base.now.elapsed)
        #expect(now.wall == wall)
        #expect(now.wallOffset == -60_000)
    }

    @Test func `a restart changes no base: readings lie on one line`() {
        var clock = ServiceClock(time, after: nil)
        var base = clock.base(at: clock.now())
        for _ in 0..<20 {
            time.pass(nanoseconds: 123_456_789)
            var next = ServiceClock(time, after: base)
            let fresh = next.base(at: next.now())
            #expect(fresh.now.elapsed - base.now.elapsed == 123_456_789)
            #expect(fresh.boottime - base.boottime == 123_456_789)
            #expect(fresh.boot == base.boot)
            base = fresh
        }
    }

    @Test func `an elapsed instant is found on the boot clock`() {
        var clock = ServiceClock(time, after: nil)
        let now = clock.now()
        #expect(clock.boottime(ofElapsed: now.elapsed + 5) == time.boottime() + 5)
        #expect(clock.boottime(ofElapsed: .max) > time.boottime())
    }
}

/// A source whose calendar is a little off from another's.
private struct ShiftedTime: TimeSource {
    private let source: ManualTime
    private let difference: Int64

    init(_ source: ManualTime, by difference: Int64) {
        self.source = source
        self.difference = difference
    }

    func boottime() -> Int64 { source.boottime() }
    func realtime() -> Int64 { source.realtime() + difference }
    func boot() -> Hash128 { source.boot() }
}
