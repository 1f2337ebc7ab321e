import Platform
import TestSupport
import Testing
import TimerCore

@testable import TimerService

/// What bounds a process, however many partitions it has.
struct SharedBoundsTests {
    @Test func `the bytes that wait for the disk are those of all partitions`() throws {
        let rig = try PartitionedRig(2)
        let (first, second) = (rig.partitions[0], rig.partitions[1])
        let half = EngineConfiguration.maximumBatchBytes / 2
        for number in 0..<32 { try first.answer(UInt64(number), bytes: half / 32) }
        try rig.create("a", in: 1, TimerRules(.after(1000)))
        for number in 0..<32 { try second.answer(UInt64(number), bytes: half / 32) }
        #expect(throws: ServiceError.overloaded) { try rig.create("b", in: 0, TimerRules(.after(1000))) }
        #expect(throws: ServiceError.overloaded) { try rig.create("b", in: 1, TimerRules(.after(1000))) }
        // The committer takes what one of them has.
        _ = second.engine.ready(CommitDemand(), into: ReadyBatch())
        try rig.create("b", in: 0, TimerRules(.after(1000)))
        try rig.create("b", in: 1, TimerRules(.after(1000)))
    }

    @Test func `the most timers are those of all partitions`() throws {
        var configuration = EngineConfiguration()
        configuration.maximumTimers = 5
        let rig = try PartitionedRig(2, configuration)
        for number in 0..<3 { try rig.create("a\(number)", in: 0, TimerRules(.after(1000))) }
        for number in 0..<2 { try rig.create("b\(number)", in: 1, TimerRules(.after(1000))) }
        for number in 0..<2 {
            #expect(throws: ServiceError.refused(.timerLimit(5))) {
                try rig.create("c", in: number, TimerRules(.after(1000)))
            }
        }
        let id = rig.published.value.id("a0", in: 0)
        try rig.partitions[0].change { turn throws(ServiceError) in
            try turn.delete(rig.partitions[0].key(id), if: .none)
        }
        try rig.create("c", in: 1, TimerRules(.after(1000)))
        #expect(throws: ServiceError.refused(.timerLimit(5))) { try rig.create("d", in: 1, TimerRules(.after(1000))) }
        // What a partition held that is given up may be held by the others.
        rig.partitions[0].engine.leave()
        try rig.create("d", in: 1, TimerRules(.after(1000)))
    }

    @Test func `a create that is refused counts no timer`() throws {
        var configuration = EngineConfiguration()
        configuration.maximumTimers = 2
        let rig = try PartitionedRig(2, configuration)
        let id = try rig.create("a", in: 0, TimerRules(.after(1000)))
        for _ in 0..<3 {
            #expect(throws: ServiceError.refused(.exists)) { try rig.partitions[0].create(id) }
        }
        try rig.create("b", in: 1, TimerRules(.after(1000)))
    }

    @Test func `idempotency keys are bounded for all partitions together`() throws {
        var configuration = EngineConfiguration()
        configuration.maximumIdempotencyKeys = 8
        let rig = try PartitionedRig(2, configuration)
        let keys = { rig.partitions.map { $0.engine.snapshotCounters().idempotencyKeys } }
        let forget = { for partition in rig.partitions { while partition.engine.forgetKeys() {} } }
        for number in 0..<10 { try rig.partitions[0].answer(UInt64(number), bytes: 10) }
        forget()
        #expect(keys() == [8, 0])
        for number in 10..<13 { try rig.partitions[1].answer(UInt64(number), bytes: 10) }
        forget()
        #expect(keys() == [5, 3])
        for number in 13..<20 { try rig.partitions[1].answer(UInt64(number), bytes: 10) }
        forget()
        forget()
        #expect(keys() == [4, 4])
    }

    @Test func `bytes of answers are bounded for all partitions together, but for the newest of each`() throws {
        var configuration = EngineConfiguration()
        configuration.maximumIdempotencyBytes = 64_000
        let rig = try PartitionedRig(64, configuration)
        let bytes = { rig.partitions.map { $0.engine.upkeep.liveBytes } }
        let forget = { for partition in rig.partitions { while partition.engine.forgetKeys() {} } }
        // An equal part is 1000 bytes, less than one of these.
        for number in 0..<20 { try rig.partitions[0].answer(UInt64(number), bytes: 3000) }
        for number in 1..<64 {
            try rig.partitions[number].answer(UInt64(100 + number), bytes: 3000)
            forget()
            #expect(bytes()[number] >= 3000)
        }
        // Once the others had the time to make room, each keeps what there is room for.
        rig.time.pass(milliseconds: IdempotencyTable.grace + 1)
        forget()
        forget()
        #expect(bytes().reduce(0, +) <= 64_000)
        #expect(bytes().reduce(0, +) > 32_000)
    }

    @Test func `deliveries that are pending are bounded for all partitions together`() throws {
        var configuration = EngineConfiguration()
        configuration.deliveries.backlog = 4
        let rig = try PartitionedRig(2, configuration)
        let pending = { rig.partitions.map { $0.engine.snapshotCounters().pendingDeliveries } }
        /// Makes timers that fire at once, each of which owes a delivery.
        func fire(_ count: Int, _ stem: String, in number: Int) throws {
            var rules = TimerRules(.after(10))
            rules.deliveries = EventTypes(.fired)
            for index in 0..<count {
                let id = rig.published.value.id("\(stem)\(index)", in: number)
                try rig.partitions[number].create(id, rules, webhook: [1, 2, 3])
            }
            rig.time.pass(milliseconds: 20)
            rig.fire()
        }
        try fire(6, "a", in: 0)
        #expect(pending() == [4, 0])
        // A partition has never less than an equal part.
        try fire(3, "b", in: 1)
        #expect(pending() == [4, 2])
        // The first has more than the other leaves, until it gets a further one.
        try fire(1, "c", in: 0)
        #expect(pending()[1] == 2 && pending()[0] < 4)
        try fire(4, "d", in: 0)
        #expect(pending() == [2, 2])
    }
}
