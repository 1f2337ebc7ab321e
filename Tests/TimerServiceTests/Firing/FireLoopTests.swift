import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct FireLoopTests {
    private static let millisecond: Int64 = 1_000_000

    @Test func `timers of all partitions fire in their order from one alarm`() throws {
        let rig = try PartitionedRig()
        rig.fire()
        let start = rig.time.boottime()
        for (number, delay) in [400, 100, 300, 200].enumerated() {
            try rig.create("a", in: number, TimerRules(.after(Int64(delay))))
            try rig.create("b", in: number, TimerRules(.after(Int64(delay) + 400)))
        }
        rig.fire()
        var order: [[Int]] = []
        for delay in stride(from: Int64(100), through: 800, by: 100) {
            #expect(rig.alarm.armed == start + delay * Self.millisecond)
            let before = rig.fires
            rig.time.pass(nanoseconds: rig.alarm.armed - rig.time.boottime())
            rig.fire()
            order.append(zip(rig.fires, before).map { $0 - $1 })
        }
        let once = [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]]
        #expect(order == once + once)
    }

    @Test func `a partition with much to fire lets the others fire in between`() throws {
        let rig = try PartitionedRig()
        rig.fire()
        for count in 0..<200 { try rig.create("a\(count)", in: 0, TimerRules(.after(100))) }
        for number in 1..<4 { try rig.create("b", in: number, TimerRules(.after(200))) }
        rig.fire()
        rig.time.pass(milliseconds: 200)
        #expect(rig.loop.step() == .more)
        #expect(rig.fires[0] <= EngineConfiguration.stepLimit)
        #expect(rig.fires[1...] == [1, 1, 1])
        rig.fire()
        #expect(rig.fires == [200, 1, 1, 1])
    }

    @Test func `a watchdog that waits for the sockets holds up no other partition, and the loops are asked once`()
        throws
    {
        let rig = try PartitionedRig()
        let asked = Guarded(0)
        let reader = rig.shared.addReader { asked.withLock { $0 += 1 } }
        rig.fire()
        for number in 0..<2 { try rig.create("dog", in: number, TimerRules(.watchdog(300))) }
        for number in 2..<4 { try rig.create("shot", in: number, TimerRules(.after(300))) }
        rig.fire()
        rig.time.pass(milliseconds: 300)
        #expect(rig.loop.step() == .held)
        #expect(rig.fires == [0, 0, 1, 1])
        #expect(rig.loop.step() == .held)
        #expect(asked.value == 1)
        reader.tellRead(round: 1)
        rig.fire()
        #expect(rig.fires == [1, 1, 1, 1])
        #expect(asked.value == 1)
    }

    @Test func `a second without anything due is one waking, which serves every partition`() throws {
        let rig = try PartitionedRig(64)
        rig.fire()
        #expect(rig.alarm.armed == .max)
        #expect(rig.loop.prepareSleep() > 990)
        let readings = { rig.partitions.map { $0.engine.clockNow.elapsed } }
        let before = readings()
        rig.time.pass(milliseconds: 500)
        try rig.create("a", in: 5, TimerRules(.after(0)))
        rig.fire()
        #expect(zip(readings(), before).filter { $0 > $1 }.count == 1)
        rig.time.pass(milliseconds: 500)
        rig.fire()
        #expect(zip(readings(), before).allSatisfy { $0 == $1 + 1000 * Self.millisecond })
    }

    @Test func `every partition follows a step of the calendar at once`() throws {
        let rig = try PartitionedRig()
        rig.fire()
        let day: Int64 = 86_400_000
        let wall = rig.partitions[0].engine.turn { $0.now.wall }
        for number in 0..<4 { try rig.create("a", in: number, TimerRules(.at(wall + day))) }
        rig.fire()
        // One partition has something due just then.
        try rig.create("b", in: 2, TimerRules(.after(0)))
        rig.time.step(milliseconds: day)
        rig.fire()
        #expect(rig.fires == [1, 1, 2, 1])
    }

    @Test func `the time bases of all partitions are written together`() throws {
        let rig = try PartitionedRig()
        rig.fire()
        var listed: [Int] = []
        for number in 0..<4 {
            var rules = TimerRules(.watchdog(86_400_000))
            rules.clock = .suspending
            try rig.create("dog", in: number, rules)
            // They begin at different seconds.
            rig.time.pass(milliseconds: 1700)
            rig.fire()
            rig.commit()
        }
        rig.shared.bell.takeListed(into: &listed)
        var written: [[Int]] = []
        for _ in 0..<40 {
            rig.time.pass(milliseconds: 1000)
            rig.fire()
            rig.shared.bell.takeListed(into: &listed)
            if !listed.isEmpty { written.append(listed.sorted()) }
            rig.commit()
        }
        // Each but the first time all of them, every eight seconds.
        #expect(written.dropFirst().allSatisfy { $0 == [0, 1, 2, 3] })
        #expect((4...6).contains(written.count))
    }

    @Test func `a partition that waited for others' turns did not stand still`() throws {
        let rig = try PartitionedRig()
        rig.fire()
        var rules = TimerRules(.after(1000))
        rules.misfire = .skip
        for number in 0..<2 { try rig.create("a", in: number, rules) }
        rig.fire()
        // The loop comes in time, and is busy with other partitions for two seconds.
        var pace = LoopPace()
        rig.time.pass(milliseconds: 1000)
        pace.seen(at: rig.time.boottime())
        for _ in 0..<4 {
            rig.time.pass(milliseconds: 500)
            pace.seen(at: rig.time.boottime())
        }
        var round = FireRound()
        round.stoodStillThrough = pace.stoodStillThrough
        _ = rig.partitions[0].engine.fire(round)
        #expect(rig.fires == [1, 0, 0, 0])
        // Now it stands still.
        rig.time.pass(milliseconds: 3000)
        pace.seen(at: rig.time.boottime())
        round.stoodStillThrough = pace.stoodStillThrough
        _ = rig.partitions[1].engine.fire(round)
        #expect(rig.fires == [1, 0, 0, 0])
    }

    @Test func `what came due of any partition while the loop stood still is a misfire, however short it is overdue`()
        throws
    {
        let rig = try PartitionedRig()
        rig.fire()
        var rules = TimerRules(.after(900))
        rules.misfire = .skip
        for number in 0..<2 { try rig.create("a", in: number, rules) }
        rig.fire()
        var pace = LoopPace()
        pace.seen(at: rig.time.boottime())
        // Another partition's timer is due after 100 ms.
        pace.sleep(until: rig.time.boottime() + 100_000_000)
        rig.time.pass(milliseconds: 1300)
        var round = FireRound()
        round.stoodStillThrough = pace.stoodStillThrough
        _ = rig.partitions[0].engine.fire(round)
        #expect(rig.fires == [1, 0, 0, 0])
        pace.seen(at: rig.time.boottime())
        round.stoodStillThrough = pace.stoodStillThrough
        _ = rig.partitions[1].engine.fire(round)
        #expect(rig.fires == [1, 0, 0, 0])
    }
}

extension PartitionedRig {
    /// Takes what the engines have recorded, as the committer does.
    fileprivate func commit() {
        for partition in partitions { _ = partition.engine.ready(CommitDemand(), into: ReadyBatch()) }
    }
}
