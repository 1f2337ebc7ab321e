import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// `--durability interval`: changes are shown before they are on disk, and a crash may take some of them back.
struct IntervalTests {
    private let store = FaultyLogStore()
    private let time = ManualTime()

    private func rig(
        _ store: (any LogStore)? = nil, _ durability: Durability = .interval(3_600_000_000_000)
    ) throws -> Rig {
        var configuration = EngineConfiguration()
        configuration.durability = durability
        return try Rig(store ?? self.store, configuration, time: time)
    }

    /// Makes the timers and waits until they are on disk: from then on a mark covers later changes.
    private func begin(_ rig: Rig, _ ids: String...) throws {
        for id in ids { try rig.create(id) }
        let head = rig.locked { $0.batch.head }
        var isHurried = false
        try eventually("they are on disk") {
            // The first timer is on disk before it is shown; a later one may wait for the end of the interval.
            if !isHurried, rig.engine.durableHead < head, rig.locked({ $0.shownHead }) >= head {
                isHurried = true
                rig.log.hurry()
            }
            return rig.engine.durableHead >= head
        }
    }

    /// Waits until streams are shown every record.
    private func show(_ rig: Rig) throws {
        try eventually("all is shown") { rig.locked { $0.shownHead >= $0.batch.head } }
    }

    /// The rows on disk now, as another process would find them after a crash of this one.
    private func crashed(_ rig: Rig) throws -> MemoryLogStore {
        let copy = MemoryLogStore()
        _ = try copy.open()
        let rows = try rows(of: rig.store)
        #expect(copy.append(rows, expecting: 0, epoch: 0) == .durable)
        return copy
    }

    @Test(arguments: [Durability.interval(3_600_000_000_000), .commit])
    func `no id and no version is given again after a crash, with the clock set back`(_ next: Durability) throws {
        let first = try rig()
        try begin(first, "a", "b")
        var shown = 0 as Int64
        for _ in 0..<3 {
            try first.apply("a", .suspend)
            shown = try first.apply("a", .resume)
        }
        try show(first)
        #expect(first.engine.fate(of: shown) == .durable)
        let version = try #require(first.progress("a")?.version)
        #expect(version == 7)
        let untouched = try #require(first.progress("b"))
        let disk = try crashed(first)
        first.stop()
        time.step(milliseconds: -3_600_000)
        let second = try rig(disk, next)
        #expect(second.progress("a")?.version == 1)
        #expect(second.progress("b") == untouched)
        let position = try second.apply("a", .suspend)
        #expect(position > shown)
        #expect(try #require(second.progress("a")?.version) > version)
        try second.create("new")
        #expect(try #require(second.progress("new")?.version) > version)
        try eventually("it is on disk") { second.engine.durableHead >= position }
        #expect(second.hub.positionState(of: shown) == .lost)
        second.stop()
    }

    @Test func `a clean stop leaves versions and ids as they are`() throws {
        var rig = try rig()
        try begin(rig, "a")
        try rig.apply("a", .suspend)
        rig.stop()
        rig = try self.rig()
        let marks = try rig.records().compactMap { record -> Bool? in
            guard case .mark(let mark) = record.content else { return nil }
            return mark == HighWaterMark(position: record.position, version: 0)
        }
        #expect(marks.last == true)
        try rig.apply("a", .resume)
        #expect(rig.progress("a")?.version == 3)
        rig.stop()
    }

    @Test func `what lies beyond the mark waits for the disk, with a new one`() throws {
        let gated = GatedLogStore(store)
        let rig = try rig(gated)
        try begin(rig, "a")
        // The calendar moves on beyond what the mark covers.
        time.pass(milliseconds: 86_400_000 * 2)
        gated.shut()
        let position = try rig.apply("a", .suspend)
        try eventually("it is written at once") { gated.isHolding }
        #expect(rig.engine.fate(of: position) == .pending)
        #expect(rig.hub.head < position)
        gated.unshut()
        #expect(try rig.fate(position) == .durable)
        try show(rig)
        let next = try rig.apply("a", .resume)
        #expect(rig.engine.fate(of: next) == .durable)
        rig.stop()
    }

    @Test func `versions beyond the mark wait for the disk`() throws {
        let gated = GatedLogStore(store)
        let rig = try rig(gated)
        try begin(rig, "a")
        rig.locked { $0.scheduler.noteLostVersions(1 << 20) }
        gated.shut()
        let position = try rig.apply("a", .suspend)
        try eventually("it is written at once") { gated.isHolding }
        #expect(rig.engine.fate(of: position) == .pending)
        gated.unshut()
        #expect(try rig.fate(position) == .durable)
        let version = try #require(rig.progress("a")?.version)
        #expect(version == 1_048_577)
        rig.stop()
    }

    @Test(arguments: [
        FaultyLogStore.Outcome.absent, .unknownButWritten, .unknownAndLost, .diverged,
    ])
    func `a disk that fails for a while loses nothing that was shown`(_ outcome: FaultyLogStore.Outcome) throws {
        let rig = try rig()
        try begin(rig, "a", "b")
        let position = try rig.apply("a", .suspend)
        try show(rig)
        store.plan(outcome)
        store.failOpens(2)
        rig.log.hurry()
        try eventually("it is on disk") { rig.engine.durableHead >= position }
        try eventually("storage works again") { rig.locked { !$0.storageFails } }
        #expect(rig.locked { $0.restarts } == 0)
        #expect(rig.engine.fate(of: position) == .durable)
        #expect(rig.progress("a")?.state == .suspended)
        try rig.apply("b", .suspend)
        rig.log.hurry()
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `rows that are not on disk stay in memory, however many there are`() throws {
        let rig = try rig()
        try begin(rig, "a")
        let payload = [UInt8](repeating: 0x31, count: 60_000)
        let first = try rig.create("first", payload: payload)
        for number in 0..<200 { try rig.create("t\(number)", payload: payload) }
        try show(rig)
        #expect(rig.hub.row(holding: first) != nil)
        rig.hub.shrink()
        #expect(rig.hub.row(holding: first) != nil)
        rig.stop()
    }

    @Test func `another writer's log takes back what was shown, and gives nothing again`() throws {
        let memory = MemoryLogStore()
        let rig = try rig(memory)
        try begin(rig, "a")
        let head = rig.engine.durableHead
        let shown = try rig.apply("a", .suspend)
        try show(rig)
        let version = try #require(rig.progress("a")?.version)
        var records: [UInt8] = []
        RecordCodec.appendVersionFloor(0, at: 0, to: &records)
        let foreign = BatchRows.make(
            records: records, first: shown + 1000, previous: head, epoch: 0, base: rig.locked { $0.timeBase() })
        #expect(memory.append(foreign, expecting: head, epoch: 0) == .durable)
        rig.log.hurry()
        try eventually("it is lost") { rig.engine.isLost(shown) && rig.locked { !$0.storageFails } }
        #expect(rig.engine.fate(of: shown) == .lost)
        #expect(rig.progress("a")?.state == .running)
        #expect(rig.hub.row(holding: shown) == nil)
        let next = try rig.apply("a", .suspend)
        #expect(next > foreign[0].last)
        #expect(try #require(rig.progress("a")?.version) > version)
        #expect(try rig.fate(next) == .durable)
        rig.stop()
    }
}
