import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct HoldMeterTests {
    @Test func `one hold in 64 is measured`() {
        var meter = HoldMeter(measuresAll: false)
        for hold in 1...640 {
            meter.begin(.turn)
            meter.end()
            #expect(meter.seconds.counts.reduce(0, +) == hold / 64)
        }
        #expect(meter.longest.isEmpty)
    }

    @Test func `every hold is measured where that is asked for, and the longest of each cause is kept`() {
        var meter = HoldMeter(measuresAll: true)
        var work: UInt64 = 1
        for hold in 1...100 {
            meter.begin(hold == 50 ? .fire : .turn)
            // The work takes far longer than the clock's grain.
            if hold == 50 { for step in 0..<200_000 { work = work &* 31 &+ UInt64(step) } }
            meter.end()
        }
        #expect(work != 0)
        #expect(meter.seconds.counts.reduce(0, +) == 100)
        let (fire, turn) = (meter.longest[HoldCause.fire.rawValue], meter.longest[HoldCause.turn.rawValue])
        #expect((fire.count, turn.count) == (1, 99))
        #expect(fire.cpuSeconds > 0 && fire.wallSeconds > 0)
        #expect(meter.longest[HoldCause.commit.rawValue].count == 0)
    }

    @Test func `what an engine does is measured by its cause`() throws {
        var configuration = EngineConfiguration()
        configuration.measuresEveryHold = true
        let rig = try Rig(MemoryLogStore(), configuration)
        try rig.create("shot", TimerRules(.after(10)))
        rig.time.pass(milliseconds: 10)
        rig.fire()
        try rig.settle()
        let counters = rig.engine.snapshotCounters()
        for cause in [HoldCause.turn, .fire, .commit] {
            #expect(counters.longestHolds[cause.rawValue].count > 0, "\(cause)")
        }
        #expect(counters.longestHolds.reduce(0) { $0 + $1.count } == counters.holdSeconds.counts.reduce(0, +))
        rig.stop()
    }

    @Test func `the oldest due instant that has not fired has an age`() throws {
        let rig = try Rig()
        try rig.create("shot", TimerRules(.after(1000)))
        #expect(rig.engine.snapshotCounters().overdueMilliseconds == 0)
        rig.time.pass(milliseconds: 1000)
        #expect(rig.engine.snapshotCounters().overdueMilliseconds == 0)
        rig.time.pass(milliseconds: 2500)
        #expect(rig.engine.snapshotCounters().overdueMilliseconds == 2500)
        rig.fire()
        #expect(rig.engine.snapshotCounters().overdueMilliseconds == 0)
        rig.stop()
    }
}
