import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Commits on the thread that brought the change.
struct LeadingTests {
    /// A rig whose committer has made the first append. Its thread does not run.
    private static func rig(
        _ store: any LogStore = MemoryLogStore(), durability: Durability = .commit, longest: Int64 = .max
    ) throws -> Rig {
        var configuration = EngineConfiguration()
        configuration.longestLed = longest
        configuration.durability = durability
        let rig = try Rig(store, configuration, starts: false)
        try rig.create("first")
        #expect(!rig.committer.lead(), "no append was made yet")
        #expect(rig.committer.step())
        return rig
    }

    /// Makes a timer in a turn, as the answer to one request or, where that `goesOn`, a part of it. Returns the position of
    /// its record.
    private static func request(
        _ id: String, _ rig: Rig, waking: Engine.Waking = .byCaller, goesOn: Bool = false
    ) -> Int64 {
        rig.engine.turn(waking: waking) { turn in
            _ = turn.step {
                var bytes = definition(id, TimerRules(.after(1000)))
                return (try? turn.create(rig.key(id), definition: &bytes)) != nil && !goesOn
            }
            return turn.head
        }
    }

    @Test func `one request is committed by its own thread, and the committer has nothing left to do`() throws {
        let rig = try Self.rig()
        for id in ["a", "b"] {
            let position = Self.request(id, rig)
            #expect(rig.engine.fate(of: position) == .pending)
            #expect(rig.committer.lead())
            #expect(rig.engine.fate(of: position) == .durable)
            #expect(rig.hub.row(holding: position) != nil)
            #expect(!rig.bell.hasNote)
            #expect(rig.bell.gatheredRequests == 0)
        }
        #expect(!rig.committer.hasWork)
        try rig.expectFoldIsLive()
    }

    @Test func `requests that may share an append are the committer's`() throws {
        let rig = try Self.rig()
        _ = Self.request("a", rig, waking: .atOnce)
        let position = Self.request("b", rig)
        #expect(!rig.committer.lead())
        #expect(rig.engine.fate(of: position) == .pending)
        try #require(rig.bell.hasNote, "without it the step would wait for ever")
        #expect(rig.committer.step())
        #expect(rig.engine.fate(of: position) == .durable)
    }

    @Test func `the committer is woken where it has something to commit that nobody leads`() throws {
        let rig = try Self.rig()
        // The rig's first turn, which did not lead, rang.
        #expect(rig.bell.wait(nanoseconds: 0))
        rig.engine.turn(waking: .byCaller) { _ in }
        rig.committer.commit(leads: true)
        #expect(!rig.bell.wait(nanoseconds: 0), "nothing changed")
        _ = Self.request("a", rig)
        rig.committer.commit(leads: true)
        #expect(!rig.bell.wait(nanoseconds: 0), "the change is committed")
        _ = Self.request("b", rig)
        _ = Self.request("c", rig)
        #expect(!rig.bell.wait(nanoseconds: 0), "turns that lead do not ring")
        rig.committer.commit(leads: true)
        #expect(rig.bell.wait(nanoseconds: 0))
    }

    @Test func `a request of several turns wakes the committer with the last one, or as its caller says`() throws {
        let rig = try Self.rig()
        // The rig's first turn rang.
        #expect(rig.bell.wait(nanoseconds: 0))
        _ = Self.request("a", rig, waking: .forAnswers, goesOn: true)
        #expect(!rig.bell.wait(nanoseconds: 0), "no answer waits for the disk")
        rig.committer.commit(leads: false)
        #expect(rig.bell.wait(nanoseconds: 0))
        _ = Self.request("b", rig, waking: .forAnswers)
        #expect(rig.bell.wait(nanoseconds: 0))
    }

    @Test func `nobody leads while appends take long, or where answers do not wait for the disk`() throws {
        for rig in [try Self.rig(longest: -1), try Self.rig(durability: .interval(1_000_000_000))] {
            _ = Self.request("a", rig)
            #expect(!rig.committer.lead())
        }
    }

    @Test func `while an append is under way nobody leads`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Self.rig(store)
        store.shut()
        _ = Self.request("a", rig, waking: .atOnce)
        let committing = Background { _ = rig.committer.step() }
        try eventually("the append is under way") { store.isHolding }
        _ = Self.request("b", rig)
        #expect(!rig.committer.lead())
        store.unshut()
        try committing.finish("the append ends")
        #expect(rig.committer.lead())
    }

    @Test(arguments: FailedAppendTests.outcomes)
    func `the committer finds out what became of a led append that failed`(
        _ outcome: FaultyLogStore.Outcome, _ expected: Fate
    ) throws {
        let store = FaultyLogStore()
        let rig = try Self.rig(store)
        store.plan(outcome)
        let position = Self.request("a", rig)
        #expect(rig.committer.lead())
        #expect(rig.bell.hasNote)
        #expect(rig.locked { $0.storageFails })
        #expect(!rig.committer.lead())
        rig.start()
        #expect(try rig.fate(position) == expected)
        try rig.settle()
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a thread may lead while the mean of the newest appends is short, and once one was made`() {
        var leading = Leading(longest: 1000)
        #expect(!leading.isAllowed(amongMany: false))
        leading.appended(in: 1000)
        #expect(leading.isAllowed(amongMany: false))
        leading.appended(in: 2000)
        #expect(!leading.isAllowed(amongMany: false))
        for _ in 0..<8 { leading.appended(in: 900) }
        #expect(leading.isAllowed(amongMany: false) && !leading.isAllowed(amongMany: true))
        for _ in 0..<30 { leading.appended(in: 300) }
        #expect(leading.isAllowed(amongMany: true))
        leading.appended(in: 1_000_000_000)
        for _ in 0..<50 { leading.appended(in: 900) }
        #expect(!leading.isAllowed(amongMany: false))
        for _ in 0..<70 { leading.appended(in: 900) }
        #expect(leading.isAllowed(amongMany: false))
    }

    @Test func `memory is given back in time after the newest append, whoever made it`() {
        var release = MemoryRelease()
        release.note(bytes: MemoryRelease.leastBytes - 1, at: 10)
        #expect(release.at == nil)
        release.note(bytes: 1, at: 20)
        #expect(release.at == 20 + release.quietTime)
        release.note(bytes: 1, at: 30)
        #expect(release.at == 30 + release.quietTime)
        release.done()
        #expect(release.at == nil)
    }
}
