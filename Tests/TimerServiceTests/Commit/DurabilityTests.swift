import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct DurabilityTests {
    private static func interval(_ nanoseconds: Int64) -> EngineConfiguration {
        var configuration = EngineConfiguration()
        configuration.durability = .interval(nanoseconds)
        configuration.retainMilliseconds = 0
        return configuration
    }

    private static let hour: Int64 = 3_600_000_000_000
    private static let large = [UInt8](repeating: 1, count: 1 << 20)

    @Test func `with an interval answers leave at once, and a stop writes what is left`() throws {
        let rig = try Rig(MemoryLogStore(), Self.interval(Self.hour))
        let first = try rig.create("a")
        // No mark covers it yet.
        try eventually("it is on disk") { rig.engine.durableHead >= first }
        let second = try rig.create("b")
        #expect(rig.engine.fate(of: second) == .durable)
        // The hub has the row before the record's fate says so.
        try eventually("it is shown") { rig.engine.fateOfShown(second...second) == .durable }
        #expect(rig.hub.head == second)
        #expect(rig.hub.row(holding: second) != nil)
        #expect(try rig.holds(first))
        #expect(try !rig.holds(second))
        rig.stop()
        let again = try Rig(rig.store)
        #expect(again.live["b"] != nil)
        again.stop()
    }

    @Test func `an interval ends early when too much has gathered`() throws {
        let rig = try Rig(MemoryLogStore(), Self.interval(Self.hour))
        for number in 0..<64 { try rig.create("t\(number)", payload: Self.large) }
        try eventually("most is written") { rig.store.bytesOnDisk() > 32 << 20 }
        rig.stop()
    }

    @Test func `what one batch brings too much of is written at once`() throws {
        let rig = try Rig(MemoryLogStore(), Self.interval(Self.hour), starts: false)
        try rig.create("first")
        _ = rig.committer.step()
        for number in 0..<20 { try rig.create("t\(number)", payload: Self.large) }
        // This step takes the batch, whose size was not known before.
        _ = rig.committer.step()
        let due = try #require(rig.log.dueAt)
        try #require(due <= Clocks.monotonic())
        _ = rig.committer.step()
        #expect(rig.store.bytesOnDisk() > 20 << 20)
    }

    @Test func `nothing is compacted away that was lost on its way`() throws {
        let faulty = FaultyLogStore()
        let store = GatedLogStore(faulty)
        var configuration = Self.interval(0)
        configuration.durability = .commit
        let rig = try Rig(store, configuration)
        var tuning = LogCompaction.Tuning()
        tuning.slackBytes = 0
        let compactor = LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
        try rig.create("sleeper", TimerRules(.after(1 << 40)))
        try rig.settle()
        for _ in 0..<30 {
            try rig.create("short")
            try rig.settle()
            try rig.change { turn throws(ServiceError) in try turn.delete(rig.key("short"), if: .none) }
            try rig.settle()
        }
        rig.time.pass(milliseconds: 10)
        store.shut()
        faulty.plan(.absent)
        let round = Background { [log = rig.log, tuning] in
            let lost = LogCompaction(log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
            _ = try? lost.round(store.makeReader())
        }
        try eventually("what was carried is on its way") { store.isHolding }
        store.unshut()
        try eventually("storage was brought back") { rig.locked { $0.restarts == 1 && !$0.storageFails } }
        try round.finish("the round ends")
        try rig.expectFoldIsLive()
        #expect(try rows(of: store).first?.previous == 0)
        // The next rounds delete them.
        while try compactor.round(try store.makeReader()) {}
        try eventually("rows are deleted") { try rows(of: store).first?.previous ?? 0 > 0 }
        try rig.expectFoldIsLive()
        #expect(rig.live["sleeper"] != nil)
        rig.stop()
    }

    @Test func `more than the disk takes is refused, and makes fires late, not missed`() throws {
        let rig = try Rig(MemoryLogStore(), starts: false)
        try rig.create("beat", TimerRules(.every(1000, first: .period)))
        rig.fire()
        var refusal: ServiceError?
        for number in 0..<100 where refusal == nil {
            do throws(ServiceError) { try rig.create("t\(number)", payload: Self.large) } catch { refusal = error }
        }
        #expect(refusal == .overloaded)
        #expect(throws: ServiceError.overloaded) { try rig.apply("beat", .suspend) }
        #expect(rig.locked { $0.batch.byteCount } < 66 << 20)
        // The loop keeps asking while it is held.
        for _ in 0..<10 {
            rig.time.pass(milliseconds: 300)
            guard case .held = rig.engine.fire() else {
                Issue.record("it fires over the bound")
                break
            }
        }
        #expect(rig.progress("beat")?.fireCount == 0)
        rig.start()
        try rig.settle()
        rig.fire()
        try rig.settle()
        let reasons = try rig.records().compactMap { record -> EventReason? in
            if case .event(.fired, let reason, _) = record.content { reason } else { nil }
        }
        #expect(reasons.contains(.due))
        #expect(!reasons.contains(.misfire))
        rig.stop()
    }

    @Test func `rows are deleted also while there is always something to commit`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Rig(store)
        for number in 0..<10 {
            try rig.create("t\(number)")
            try rig.settle()
        }
        let all = try rows(of: store)
        store.shut()
        try rig.create("busy0")
        rig.log.delete(through: all[4].last, RowBytes(all[0...4]))
        for number in 1...20 {
            try eventually("an append is under way") { store.isHolding }
            // The next batch is there before this one is done.
            try rig.create("busy\(number)")
            store.passOne()
            try eventually("the next append is under way") {
                rig.locked { $0.batch.isEmpty } && store.isHolding
            }
        }
        #expect(try rows(of: store).first?.first == all[5].first)
        #expect(rig.log.trim.bytes == RowBytes(try rows(of: store)))
        store.unshut()
        rig.stop()
    }

    @Test func `a failed deletion costs no change, and is tried again when next asked for`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Rig(store)
        for number in 0..<10 {
            try rig.create("t\(number)")
            try rig.settle()
        }
        let all = try rows(of: store)
        store.failDeletes(1)
        rig.log.delete(through: all[2].last, RowBytes(all[0...2]))
        try eventually("the deletion failed") { store.deleteCount == 1 }
        let position = try rig.create("after")
        #expect(try rig.fate(position) == .durable)
        #expect(rig.locked { $0.restarts } == 0)
        #expect(try rows(of: store).first == all[0])
        rig.log.delete(through: all[3].last, RowBytes([all[3]]))
        try eventually("the rows are gone") { try rows(of: store).first == all[4] }
        try eventually("their bytes as well") { rig.log.trim.bytes == RowBytes(try rows(of: store)) }
        rig.stop()
    }
}
