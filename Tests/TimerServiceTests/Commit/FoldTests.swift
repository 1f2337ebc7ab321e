import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct FoldTests {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `the log is what memory holds, whatever happened`(_ seed: UInt64) throws {
        let rig = try Rig()
        var history = RandomHistory(seed: seed)
        for _ in 0..<10 {
            for _ in 0..<60 { try history.step(rig) }
            try rig.expectFoldIsLive(answers: 0..<history.answers)
        }
        #expect(rig.live.timers.count > 3)
        rig.stop()
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `the log is what memory holds where too many deliveries wait`(_ seed: UInt64) throws {
        var configuration = EngineConfiguration()
        configuration.deliveries.backlog = 6
        let rig = try Rig(MemoryLogStore(), configuration)
        var history = RandomHistory(seed: seed + 400)
        for _ in 0..<30 {
            for _ in 0..<20 { try history.step(rig) }
            try rig.expectFoldIsLive(answers: 0..<history.answers)
            let underWay = rig.live.deliveries.values.count { $0.isUnderWay }
            #expect(rig.locked { $0.scheduler.pendingDeliveries } <= max(6, underWay))
        }
        #expect(rig.locked { $0.counters.events[Int(EventType.deliveryDead.rawValue)] } > 20)
        rig.stop()
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `a restart changes nothing, and what follows fits`(_ seed: UInt64) throws {
        let store = MemoryLogStore()
        let time = ManualTime()
        var history = RandomHistory(seed: seed + 100)
        var before: SchedulerCopy?
        var head: Int64 = 0
        for round in 0..<5 {
            let rig = try Rig(store, time: time)
            if let before { #expect(rig.live.differences(from: before) == []) }
            #expect(rig.engine.durableHead == head)
            for _ in 0..<80 { try history.step(rig) }
            try rig.expectFoldIsLive(answers: 0..<history.answers)
            before = rig.live
            head = rig.engine.durableHead
            rig.stop()
            if round % 2 == 0 { time.pass(milliseconds: 700) } else { time.reboot(milliseconds: 700) }
        }
    }

    @Test func `events of one timer name each other back to the first`() throws {
        let rig = try Rig()
        var history = RandomHistory(seed: 5, timers: 3)
        for _ in 0..<500 { try history.step(rig) }
        try rig.settle()
        var newest: [String: Int64] = [:]
        for row in try rows(of: rig.store) {
            try BatchRows.read(row) { record in
                guard case .event(let type, _, _) = record.content else { return true }
                var id: [UInt8] = []
                Definition.appendID(row.data.span.extracting(record.definition), to: &id)
                let name = String(decoding: id, as: UTF8.self)
                #expect(record.previous == (type == .created ? 0 : newest[name] ?? -1))
                newest[name] = record.position
                return true
            }
        }
        #expect(newest.count == 3)
        rig.stop()
    }

    @Test func `versions never repeat for an id that is used again, also after a restart`() throws {
        let store = MemoryLogStore()
        let time = ManualTime()
        var versions: [Int64] = []
        for _ in 0..<3 {
            let rig = try Rig(store, time: time)
            for _ in 0..<2 {
                try rig.create("a")
                try rig.apply("a", .suspend)
                versions.append(try #require(rig.live["a"]).progress.version)
                try rig.change { turn throws(ServiceError) in try turn.delete(rig.key("a"), if: .none) }
            }
            rig.stop()
        }
        #expect(versions == versions.sorted())
        #expect(Set(versions).count == versions.count)
    }

    @Test func `positions jump at each open to a range of their own`() throws {
        let store = MemoryLogStore()
        let time = ManualTime()
        let first = try Rig(store, time: time)
        let before = try first.create("a")
        try first.settle()
        first.stop()
        time.pass(milliseconds: 3000)
        let second = try Rig(store, time: time)
        let after = try second.create("b")
        #expect(before >> 30 == 1_700_000_000)
        #expect(after >> 30 == 1_700_000_003)
        second.stop()
        // Positions grow even after the calendar went back, or far into the next century.
        for step in [-3_600_000_000, 5_500_000_000_000] as [Int64] {
            time.step(milliseconds: step)
            let rig = try Rig(store, time: time)
            let next = try rig.create("c\(step)")
            #expect(next > after)
            #expect(try rig.fate(next) == .durable)
            rig.stop()
        }
    }
}
