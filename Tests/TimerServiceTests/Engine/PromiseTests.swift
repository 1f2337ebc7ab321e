import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct PromiseTests {
    private func clock(_ rig: Rig) -> Int64 { rig.engine.clockPosition }

    @Test func `a record after a promise is above it`() throws {
        let rig = try Rig()
        let first = try rig.create("a")
        try rig.settle()
        let asked = clock(rig) + PositionClock.perSecond / 2
        #expect(rig.engine.promise(through: asked) == asked)
        #expect(rig.engine.promise(through: first) == first)
        #expect(try rig.create("b") > asked)
        try rig.settle()
        rig.stop()
    }

    @Test func `the clock is not left behind by more than a second`() throws {
        let rig = try Rig()
        let now = clock(rig)
        #expect(rig.engine.promise(through: now + 10 * PositionClock.perSecond) == now + PositionClock.perSecond)
        rig.time.pass(milliseconds: 1000)
        #expect(rig.engine.promise(through: now + 10 * PositionClock.perSecond) == now + 2 * PositionClock.perSecond)
        rig.stop()
    }

    @Test func `nothing is promised that the lease does not allow, however far the calendar is set forward`() throws {
        let lease = Lease { 0 }
        let rig = try Rig(lease: lease)
        let allowed = clock(rig) + 3 * PositionClock.perSecond
        lease.extend(until: 1, promised: allowed)
        rig.time.step(milliseconds: 60_000)
        #expect(clock(rig) > allowed)
        #expect(rig.engine.promise(through: clock(rig)) == allowed)
        lease.extend(until: 1, promised: clock(rig) + 3 * PositionClock.perSecond)
        #expect(rig.engine.promise(through: clock(rig)) == clock(rig))
        rig.stop()
    }

    @Test(arguments: [false, true])
    func `a record beyond what the lease allows raises no promise, waiting or under way`(isUnderWay: Bool) throws {
        let store = GatedLogStore(MemoryLogStore())
        let lease = Lease { 0 }
        let rig = try Rig(store, lease: lease)
        try rig.create("a")
        try rig.settle()
        let allowed = clock(rig) + 3 * PositionClock.perSecond
        lease.extend(until: 1, promised: allowed)
        store.shut()
        if !isUnderWay {
            try rig.create("first")
            try eventually("a batch is under way") { store.isHolding }
        }
        // The process stood still, and somebody may have taken the partition.
        rig.time.pass(milliseconds: 60_000)
        try rig.create("late")
        try eventually("a batch is under way") { store.isHolding }
        #expect(rig.engine.promise(through: clock(rig)) <= allowed)
        store.unshut()
        rig.stop()
    }

    @Test func `what is under way holds the promise back, until it is shown`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Rig(store)
        let first = try rig.create("a")
        try rig.settle()
        store.shut()
        rig.time.pass(milliseconds: 1)
        let slow = try rig.create("b")
        try eventually("the batch is under way") { store.isHolding }
        let begun = rig.locked { $0.flightBegan }
        #expect(begun > first && begun <= slow)
        #expect(rig.engine.promise(through: slow) == begun - 1)
        #expect(rig.engine.promise(through: begun - 5) == begun - 5)
        // Records that wait for the batch under way hold back no more than it does.
        rig.time.pass(milliseconds: 1)
        let last = try rig.create("c")
        #expect(rig.engine.promise(through: last) == begun - 1)
        store.unshut()
        try rig.settle()
        #expect(rig.engine.promise(through: last) == last)
        rig.stop()
    }

    @Test func `records that wait for the committer hold the promise back`() throws {
        let rig = try Rig(starts: false)
        rig.time.pass(milliseconds: 1)
        let last = try rig.create("a", TimerRules(.after(1000)))
        let first = rig.locked { $0.batch.first }
        #expect(rig.engine.promise(through: last) == first - 1)
        rig.start()
        try rig.settle()
        #expect(rig.engine.promise(through: last) == last)
        rig.stop()
    }

    @Test func `kicks hold the promise back as well`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Rig(store)
        try rig.create("a", TimerRules(.watchdog(1000)))
        try rig.settle()
        store.shut()
        rig.time.pass(milliseconds: 1)
        let before = rig.engine.shownHead
        try rig.tell("a", .kick)
        try eventually("the batch is under way") { store.isHolding }
        let (head, begun) = rig.locked { ($0.batch.head, $0.flightBegan) }
        #expect(begun > before)
        #expect(rig.engine.promise(through: head) == begun - 1)
        store.unshut()
        try rig.settle()
        #expect(rig.engine.promise(through: head) == head)
        rig.stop()
    }

    @Test func `while storage fails nothing more is promised, and afterwards all is again`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        try rig.create("a")
        try rig.settle()
        let promised = clock(rig) + 1000
        #expect(rig.engine.promise(through: promised) == promised)
        store.plan(.unknownAndLost)
        store.failOpens(3)
        let lost = try rig.create("b")
        try eventually("storage fails") { rig.locked { $0.storageFails } }
        #expect(lost > promised)
        let during = rig.engine.promise(through: lost + 10)
        #expect(during >= promised)
        #expect(during < lost)
        // A manual clock does not move what the committer waits for.
        try eventually("storage works again") { rig.locked { !$0.storageFails } }
        try rig.settle()
        let asked = lost + 10
        #expect(rig.engine.promise(through: asked) == asked)
        #expect(try rig.create("c") > asked)
        try rig.settle()
        rig.stop()
    }

    @Test func `what is shown early is promised early`() throws {
        var configuration = EngineConfiguration()
        configuration.durability = .interval(3_600_000_000_000)
        let rig = try Rig(MemoryLogStore(), configuration)
        let first = try rig.create("a")
        try eventually("it is shown") { rig.engine.shownHead >= first }
        let second = try rig.create("b")
        try eventually("it is shown") { rig.engine.shownHead >= second }
        #expect(rig.engine.promise(through: second + 1) == second + 1)
        #expect(try rig.create("c") > second + 1)
        rig.stop()
    }
}
