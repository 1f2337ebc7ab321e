import Platform
import TestSupport
import Testing
import TimerCore

@testable import TimerService

struct LoopWatchdogTests {
    @Test func `a loop that just began is alive`() {
        let heart = Heartbeat(name: "fresh")
        #expect(heart.silence < LoopWatchdog.warningSeconds)
        let watchdog = LoopWatchdog { _ in }
        watchdog.watch(heart)
        #expect(watchdog.stalledLoops == [])
        #expect(watchdog.longestStall < LoopWatchdog.warningSeconds)
    }

    @Test func `silence grows until a beat, the longest is remembered`() throws {
        let heart = Heartbeat(name: "a")
        try eventually("time passes") { heart.silence > 0.02 }
        #expect(heart.longestSilence >= heart.silence - 0.001 || heart.longestSilence > 0.02)
        heart.beat()
        heart.beat()
        #expect(heart.longestSilence > 0.02)
    }

    @Test func `a loop that rests is silent only once its rest is over`() {
        let heart = Heartbeat(name: "a")
        let watchdog = LoopWatchdog { _ in }
        watchdog.watch(heart)
        heart.rest(until: Clocks.monotonic() - 6_000_000_000)
        #expect(watchdog.stalledLoops == ["a"] && watchdog.longestStall >= 6)
        heart.rest(until: Clocks.monotonic() + 3_600_000_000_000)
        #expect(watchdog.stalledLoops == [] && heart.silence < 0 && heart.longestSilence == 0)
        heart.beat()
        #expect(heart.silence >= 0 && heart.takeLongest() == 0)
    }

    @Test func `a stall counts for a minute, unless a longer one comes`() {
        var stalls = RecentStalls()
        #expect(stalls.longest(at: 5) == 0)
        stalls.note(300, at: 10)
        stalls.note(100, at: 20)
        stalls.note(200, at: 30)
        #expect(stalls.longest(at: 10 + RecentStalls.window) == 300)
        #expect(stalls.longest(at: 11 + RecentStalls.window) == 200)
        #expect(stalls.longest(at: 31 + RecentStalls.window) == 0)
    }

    @Test func `what is taken of a heart is no longer its longest silence`() throws {
        let heart = Heartbeat(name: "a")
        try eventually("time passes") { heart.silence > 0.02 }
        heart.beat()
        #expect(heart.takeLongest() > 20_000_000)
        #expect(heart.takeLongest() == 0)
    }

    @Test func `the watch ends when it is told to`() throws {
        let watchdog = LoopWatchdog { _ in }
        watchdog.watch(Heartbeat(name: "a"))
        let thread = Background { watchdog.run() }
        watchdog.stop()
        try thread.finish("the watchdog ends")
    }

    @Test func `the fire loop beats, and ends when it is told to`() throws {
        let rig = try Rig()
        let heart = Heartbeat(name: "fire")
        let loop = FireLoop(rig.published, rig.alarm, heart: heart) { _ in }
        let thread = Background { loop.run() }
        try rig.create("a", TimerRules(.every(100, first: .period)))
        for count in 1...5 as ClosedRange<Int64> {
            rig.time.pass(milliseconds: 100)
            try eventually("it fires") { rig.live["a"]?.progress.fireCount == count }
        }
        loop.stop()
        try thread.finish("the fire loop ends")
        try rig.expectFoldIsLive()
        rig.stop()
    }
}
