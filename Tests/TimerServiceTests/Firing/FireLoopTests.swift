import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct FireLoopTests {
    private static let millisecond: Int64 = 1_000_000

    private let rig: Rig
    private let loop: FireLoop

    init() throws {
        rig = try Rig(starts: false)
        loop = FireLoop(rig.published, rig.alarm, heart: Heartbeat(name: "fire")) { _ in }
        fire()
    }

    /// Takes steps of the loop until nothing is due.
    private func fire() { while loop.step() == .more {} }

    private var fires: Int { rig.engine.snapshotCounters().fires.reduce(0, +) }

    @Test func `timers fire in their order, each when the alarm says`() throws {
        let start = rig.time.boottime()
        for delay in [400, 100, 300, 200] as [Int64] { try rig.create("t\(delay)", TimerRules(.after(delay))) }
        for (count, delay) in [100, 200, 300, 400].enumerated() {
            #expect(rig.alarm.armed == start + Int64(delay) * Self.millisecond)
            #expect(fires == count)
            rig.time.pass(nanoseconds: rig.alarm.armed - rig.time.boottime())
            fire()
            #expect(rig.progress("t\(delay)")?.state != .running)
        }
        #expect(rig.alarm.armed == .max || rig.alarm.armed > rig.time.boottime())
    }

    @Test func `steps of the scheduler share a hold of the lock while they are quick, a bounded number of them`() throws
    {
        let most = EngineConfiguration.mostFireSteps * EngineConfiguration.stepLimit
        let count = 3 * most
        /// Fires `count` timers, while each reading of the clock takes so many nanoseconds. Returns how many holds that took.
        func holds(_ name: String, reading: Int64) throws -> Int {
            for index in 0..<count { try rig.create("\(name)\(index)", TimerRules(.after(100))) }
            rig.time.pass(milliseconds: 100)
            rig.time.takeTime(nanoseconds: reading)
            defer { rig.time.takeTime(nanoseconds: 0) }
            var holds = 1
            while loop.step() == .more { holds += 1 }
            return holds
        }
        let quick = try holds("quick", reading: 0)
        let slow = try holds("slow", reading: EngineConfiguration.longestFiring)
        #expect(fires == 2 * count)
        #expect(slow >= count / EngineConfiguration.stepLimit && quick >= count / most, "\(quick), \(slow)")
        #expect(quick <= slow / 4, "\(quick), \(slow)")
    }

    @Test func `a fire is late by the steps that were before it in a hold of the lock`() throws {
        let count = EngineConfiguration.stepLimit + 1
        for index in 0..<count { try rig.create("a\(index)", TimerRules(.after(10))) }
        rig.time.pass(milliseconds: 10)
        rig.time.takeTime(nanoseconds: 40_000)
        let step = loop.step()
        rig.time.takeTime(nanoseconds: 0)
        let lateness = rig.engine.snapshotCounters().lateness
        #expect(step.isDone && fires == count)
        #expect(lateness.counts[0] == count - 1 && lateness.counts[1] == 1, "\(lateness)")
    }

    @Test func `a watchdog that waits for the sockets holds the loop, and those are asked once`() throws {
        let asked = Guarded(0)
        let reader = rig.shared.addReader { asked.withLock { $0 += 1 } }
        try rig.create("dog", TimerRules(.watchdog(300)))
        rig.time.pass(milliseconds: 300)
        #expect(loop.step() == .held)
        #expect(loop.step() == .held)
        #expect(fires == 0 && asked.value == 1)
        reader.reportRead(round: 1)
        fire()
        #expect(fires == 1 && asked.value == 1)
    }

    @Test func `a step of the calendar is followed at once`() throws {
        let day: Int64 = 86_400_000
        let wall = rig.engine.turn { $0.now.wall }
        try rig.create("a", TimerRules(.at(wall + day)))
        fire()
        rig.time.step(milliseconds: day)
        fire()
        #expect(fires == 1)
    }

    @Test func `what came due while the loop stood still is a misfire`() throws {
        var rules = TimerRules(.after(1000))
        rules.misfire = .skip
        try rig.create("in time", rules)
        rig.time.pass(milliseconds: 1000)
        fire()
        #expect(fires == 1)
        try rig.create("late", rules)
        rig.time.pass(milliseconds: 3000)
        fire()
        #expect(fires == 1)
    }

    @Test func `the time base is written every eight seconds while a timer counts the time the server is up`() throws {
        var rules = TimerRules(.watchdog(86_400_000))
        rules.clock = .suspending
        try rig.create("dog", rules)
        var written = 0
        for _ in 0..<40 {
            _ = rig.engine.ready(CommitDemand(), into: ReadyBatch())
            rig.bell.takeNote()
            rig.time.pass(milliseconds: 1000)
            fire()
            if rig.bell.hasNote { written += 1 }
        }
        #expect((4...6).contains(written))
    }

    @Test func `the loop rests until the next instant, unless something comes without an alarm`() throws {
        #expect(loop.step() == .resting(until: .max))
        try rig.create("a", TimerRules(.after(3_600_000)))
        #expect(loop.step() == .resting(until: rig.alarm.armed) && rig.alarm.armed < .max)
        var rules = TimerRules(.after(3_600_000))
        rules.clock = .suspending
        let rings = rig.alarm.ringCount
        try rig.create("b", rules)
        // Uptime is what readings of the clocks prove: the loop is woken, once, to read them each second.
        #expect(rig.alarm.ringCount == rings + 1)
        try rig.create("c", rules)
        #expect(rig.alarm.ringCount == rings + 1)
        #expect(loop.step() == .done)
        for id in ["b", "c"] { _ = try rig.apply(id, .cancel) }
        #expect(loop.step() == .resting(until: rig.alarm.armed))
    }

    @Test func `without a log the loop beats and fires nothing, until one comes`() throws {
        rig.published.publish(nil)
        try rig.create("a", TimerRules(.after(100)))
        rig.time.pass(milliseconds: 100)
        #expect(loop.step() == .done)
        #expect(fires == 0)
        rig.published.publish(rig.log)
        fire()
        #expect(fires == 1)
    }
}
