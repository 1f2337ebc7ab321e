import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Watchdogs with a schedule over crashes of the server.
struct ScheduledGraceTests {
    /// Expects a kick at 22:14:00, which is 40 s after the start of the clocks, and then each day.
    private func rules() throws -> TimerRules {
        let cron = try CronSchedule(Array("14 22 * * *".utf8), zone: Array("UTC".utf8), from: nil)
        return TimerRules(.expecting(.cron(cron), grace: 60_000))
    }

    private func alarms(_ rig: Rig) throws -> Int {
        try rig.settle()
        return try rig.records().count { if case .event(.fired, _, _) = $0.content { true } else { false } }
    }

    private func run(_ rig: Rig, seconds: Int) {
        for _ in 0..<seconds * 2 {
            rig.time.pass(milliseconds: 500)
            rig.fire()
        }
    }

    @Test func `an instant that passes while the server is down gets its grace from the return on`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        try rig.create("dog", try rules())
        rig.fire()
        run(rig, seconds: 10)
        try rig.expectFoldIsLive()
        #expect(rig.progress("dog")?.flags == .awaiting)
        // The process dies here.
        rig.time.pass(milliseconds: 3_600_000)
        let again = try Rig(store, time: rig.time)
        run(again, seconds: 58)
        #expect(try alarms(again) == 0)
        run(again, seconds: 4)
        #expect(try alarms(again) == 1)
        try again.expectFoldIsLive()
        again.stop()
        rig.stop()
    }

    @Test func `a grace that counts goes on after a crash, and its downtime does not count`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        try rig.create("dog", try rules())
        rig.fire()
        run(rig, seconds: 45)
        try rig.expectFoldIsLive()
        #expect(rig.progress("dog")?.flags == [])
        rig.time.pass(milliseconds: 3_600_000)
        let again = try Rig(store, time: rig.time)
        try again.expectFoldIsLive()
        // The grace goes on for at least what was left, and at most ten seconds more.
        run(again, seconds: 53)
        #expect(try alarms(again) == 0)
        run(again, seconds: 15)
        #expect(try alarms(again) == 1)
        try again.apply("dog", .kick)
        try again.expectFoldIsLive()
        #expect(again.progress("dog")?.flags == .awaiting)
        again.stop()
        rig.stop()
    }
}
