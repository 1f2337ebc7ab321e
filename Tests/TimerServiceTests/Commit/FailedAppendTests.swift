import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct FailedAppendTests {
    static let outcomes: [(FaultyLogStore.Outcome, Fate)] = [
        (.absent, .lost), (.unknownButWritten, .durable), (.unknownAndLost, .lost), (.diverged, .lost),
    ]

    /// Waits until storage is known to fail.
    private func waitForOutage(_ rig: Rig) throws {
        try eventually("storage fails") { rig.locked { $0.storageFails } }
    }

    private func waitForRecovery(_ rig: Rig) throws {
        try eventually("storage works again") { rig.locked { !$0.storageFails } }
    }

    @Test(arguments: outcomes)
    func `waiters learn what the disk holds`(_ outcome: FaultyLogStore.Outcome, _ expected: Fate) throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        try rig.create("before")
        try rig.settle()
        store.plan(outcome)
        let position = try rig.create("a")
        #expect(try rig.fate(position) == expected)
        #expect(rig.engine.fate(of: position - 1) == expected)
        try waitForRecovery(rig)
        #expect(try rig.holds(position) == (expected == .durable))
        #expect((rig.live["a"] != nil) == (expected == .durable))
        #expect(rig.live["before"] != nil)
        try rig.expectFoldIsLive()
        // Storage works again without a restart, and the lost records stay lost.
        let next = try rig.create("b")
        #expect(try rig.fate(next) == .durable)
        #expect(rig.engine.fate(of: position) == expected)
        #expect(rig.engine.fate(of: position...next) == expected)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test(arguments: outcomes.map(\.0), [0, 2])
    func `what was recorded behind a failed append is lost with it`(
        _ outcome: FaultyLogStore.Outcome, _ failingOpens: Int
    ) throws {
        let faulty = FaultyLogStore()
        let store = GatedLogStore(faulty)
        let rig = try Rig(store)
        try rig.create("a")
        try rig.settle()
        faulty.plan(outcome)
        faulty.failOpens(failingOpens)
        store.shut()
        let first = try rig.apply("a", .suspend)
        try eventually("the append is under way") { store.isHolding }
        let second = try rig.apply("a", .cancel)
        store.unshut()
        #expect(try rig.fate(second) == .lost)
        try waitForRecovery(rig)
        let hasLanded = try rig.holds(first)
        #expect(hasLanded == (outcome == .unknownButWritten))
        #expect(rig.engine.fate(of: first) == (hasLanded ? .durable : .lost))
        #expect(try !rig.holds(second))
        #expect(rig.live["a"]?.progress.state == (hasLanded ? .suspended : .running))
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test(arguments: outcomes.map(\.0))
    func `changes are refused while storage fails, and reads go on`(_ outcome: FaultyLogStore.Outcome) throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        let old = try rig.create("old")
        try rig.settle()
        let head = rig.engine.durableHead
        // The append, then five probes that fail too, so that storage does not recover within this test.
        store.plan(outcome, .absent, .absent, .absent, .absent, .absent)
        let position = try rig.create("a")
        try waitForOutage(rig)
        #expect(throws: ServiceError.storageUnavailable) { try rig.create("b") }
        #expect(throws: ServiceError.storageUnavailable) { try rig.apply("old", .suspend) }
        #expect(throws: ServiceError.storageUnavailable) {
            try rig.change { turn throws(ServiceError) in
                _ = try turn.begin(.numbered(1))
            }
        }
        _ = try rig.fate(position)
        // The record a read depends on is on disk now, so the read does not wait.
        let (live, durable) = (rig.engine.turn { $0.head }, rig.engine.durableHead)
        #expect(live == durable)
        #expect(rig.engine.fate(of: old) == .durable)
        #expect(durable >= head)
        #expect(rig.live["old"] != nil)
        try waitForRecovery(rig)
        #expect(try rig.fate(try rig.create("b")) == .durable)
        #expect(rig.heard.value.contains { if case .appendFailed = $0 { true } else { false } })
        #expect(rig.heard.value.contains { if case .storageRecovered = $0 { true } else { false } })
        rig.stop()
    }

    @Test func `an answer that is recorded while storage fails frees its key`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        let request = IdempotentRequest.numbered(9)
        try rig.change { turn throws(ServiceError) in
            #expect(try turn.begin(request) == .fresh)
        }
        store.plan(.absent, .absent, .absent)
        try rig.create("a")
        try waitForOutage(rig)
        rig.engine.turn { $0.answer(request, [1, 2, 3]) }
        try waitForRecovery(rig)
        try rig.settle()
        try rig.change { turn throws(ServiceError) in
            #expect(try turn.begin(request) == .fresh)
        }
        #expect(try rig.records().allSatisfy { if case .answer = $0.content { false } else { true } })
        rig.stop()
    }

    @Test func `a request under way stays under way over an outage, a lost answer frees its key`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        let (waiting, lost) = (IdempotentRequest.numbered(1), IdempotentRequest.numbered(2))
        try rig.change { turn throws(ServiceError) in
            _ = try turn.begin(waiting)
            _ = try turn.begin(lost)
        }
        store.plan(.unknownAndLost)
        let position = try rig.change { turn throws(ServiceError) in turn.answer(lost, [1]) }
        #expect(try rig.fate(position) == .lost)
        try waitForRecovery(rig)
        try rig.change { turn throws(ServiceError) in
            #expect(try turn.begin(waiting) == .inProgress)
            #expect(try turn.begin(lost) == .fresh)
        }
        rig.stop()
    }

    @Test func `a disk that fails again and again costs time, not truth`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        store.plan(.unknownAndLost, .unknownButWritten, .unknownAndLost, .absent, .diverged, .unknownButWritten)
        store.failOpens(3)
        let lost = try rig.create("a")
        #expect(try rig.fate(lost) == .lost)
        try waitForRecovery(rig)
        #expect(store.openCount >= 8)
        #expect(rig.engine.fate(of: lost) == .lost)
        #expect(try rig.fate(try rig.create("a")) == .durable)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a log that can't be read for a while is waited for`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        store.plan(.absent)
        store.failReads(2)
        let position = try rig.create("a")
        #expect(try rig.fate(position) == .lost)
        try waitForRecovery(rig)
        #expect(rig.heard.value.contains { if case .storageStillFailing = $0 { true } else { false } })
        #expect(try rig.fate(try rig.create("a")) == .durable)
        rig.stop()
    }

    @Test func `another writer's rows are taken over, and ours before them are lost`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        let own = try rig.create("own")
        try rig.settle()
        var records: [UInt8] = []
        RecordCodec.append(
            StoredAnswer(.numbered(3), answeredAt: 1_700_000_000_000, answer: [1]), to: &records)
        let foreign = BatchRows.make(
            records: records, first: own + (1 << 31), previous: own, epoch: 0, base: rig.locked { $0.timeBase() })
        #expect(store.append(foreign, expecting: own, epoch: 0) == .durable)
        let position = try rig.create("late")
        #expect(try rig.fate(position) == .lost)
        try waitForRecovery(rig)
        #expect(rig.live["own"] != nil)
        #expect(rig.live["late"] == nil)
        #expect(rig.hub.rows(after: own)?.rows.contains { $0.first == foreign[0].first } != true)
        #expect(rig.hub.rows(after: own) == nil)
        let next = try rig.create("next")
        #expect(next > foreign[0].last)
        #expect(try rig.fate(next) == .durable)
        try rig.expectFoldIsLive(answers: 3..<4)
        rig.stop()
    }

    @Test(arguments: [(Int64(400), EventReason.due), (5000, .misfire)])
    func `what came due in an outage fires after it, as a misfire when that took over a second`(
        _ milliseconds: Int64, _ reason: EventReason
    ) throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        try rig.create("a", TimerRules(.every(300, first: .period)))
        try rig.settle()
        rig.fire()
        store.plan(.absent, .absent, .absent)
        _ = try rig.create("b")
        try waitForOutage(rig)
        let rings = rig.alarm.ringCount
        rig.time.pass(milliseconds: milliseconds)
        rig.fire()
        #expect(rig.live["a"]?.progress.fireCount == 0)
        try waitForRecovery(rig)
        try eventually("the fire loop is told") { rig.alarm.ringCount > rings }
        rig.fire()
        try rig.settle()
        let fires = try rig.records().compactMap { record -> (EventReason, Int64)? in
            guard case .event(.fired, let reason, let fire) = record.content else { return nil }
            return (reason, fire?.missed ?? -1)
        }
        #expect(fires.map(\.0) == [reason])
        #expect(fires.map(\.1) == [reason == .due ? 0 : 15])
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `many changes and failures: shown is durable, lost is gone, no position twice`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        let shown = Guarded<[LogRow]>([])
        let seen = Guarded<Int64>(0)
        rig.hub.observe { [weak hub = rig.hub] in
            guard let news = hub?.rows(after: seen.value) else { return }
            seen.withLock { $0 = max($0, news.through) }
            shown.withLock { $0 += news.rows }
        }
        var generator = SeededGenerator(seed: 11)
        var given: [Int64] = []
        var fates: [Int64: Fate] = [:]
        let outcomes: [FaultyLogStore.Outcome] = [
            .durable, .durable, .absent, .unknownButWritten, .unknownAndLost, .diverged,
        ]
        for number in 0..<60 {
            if generator.chance(oneIn: 3) { store.plan(outcomes.randomElement(using: &generator) ?? .durable) }
            var positions: [Int64] = []
            for part in 0..<Int.random(in: 1...4, using: &generator) {
                // A creation is refused while storage fails; then there is nothing to wait for.
                guard let position = try? rig.create("t\(number).\(part)") else { break }
                positions.append(position)
            }
            given += positions
            for position in positions {
                let fate = try rig.fate(position)
                fates[position] = fate
                // A record is in the log at the moment in which it is reported durable.
                if fate == .durable { #expect(try rig.holds(position)) }
            }
            try waitForRecovery(rig)
        }
        try rig.settle()
        #expect(given == given.sorted())
        #expect(Set(given).count == given.count)
        #expect(fates.values.contains(.lost) && fates.values.contains(.durable))
        for (position, fate) in fates { #expect(try rig.holds(position) == (fate == .durable)) }
        try rig.expectFoldIsLive()
        let log = try rows(of: store)
        try eventually("everything is shown") { seen.value == log.last?.last }
        #expect(shown.value == log)
        rig.stop()
    }
}
