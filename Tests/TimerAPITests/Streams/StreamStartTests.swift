import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerAPI
@testable import TimerService

/// Events after position 100 are kept; the newest record is at 500 and on disk.
struct StreamStartTests {
    private let kept = KeptEvents(horizon: 100, durableHead: 500, isInMemory: false, first: .given)

    private func plan(since: Int64?, ofTimer: Bool = true, newest: Int64 = 400) -> StreamPlan {
        var plan = StreamPlan()
        plan.since = since.map { EventID($0) }
        plan.head = EventID(500)
        plan.newestOfTimer = newest
        if ofTimer { plan.filter.timer = key("tea") }
        return plan
    }

    private func start(_ plan: StreamPlan, _ change: (inout KeptEvents) -> Void = { _ in }) -> StreamStart {
        var kept = kept
        change(&kept)
        return plan.start(in: kept, showsEvents: true)
    }

    @Test func `a stream that begins now, or in memory, opens`() {
        #expect(start(plan(since: nil)) == .open)
        #expect(start(plan(since: 300)) { $0.isInMemory = true } == .open)
        #expect(start(plan(since: 0, ofTimer: false)) == .open)
        #expect(start(plan(since: 300, ofTimer: false)) == .open)
    }

    @Test func `a timer's own events are read from the store where memory does not reach`() {
        #expect(start(plan(since: 0)) == .history(since: 0))
        #expect(start(plan(since: 0)) { $0.isInMemory = true } == .history(since: 0))
        #expect(start(plan(since: 300)) == .history(since: 300))
        #expect(start(plan(since: 50)) == .history(since: 50))
        #expect(start(plan(since: 300, newest: 501)) == .open)
        #expect(start(plan(since: 300)) { $0.durableHead = nil } == .open)
        #expect(plan(since: 300).start(in: kept, showsEvents: false) == .open)
    }

    @Test func `an id that is not given yet, too old or lost is refused`() {
        #expect(start(plan(since: 501)) == .notYetGiven)
        #expect(start(plan(since: 99, ofTimer: false)) == .tooOld)
        #expect(start(plan(since: 300)) { $0.first = .lost } == .neverGiven)
        #expect(start(plan(since: 300)) { $0.first = .gone } == .idCheck(300))
        // At the horizon itself nothing is missed.
        #expect(start(plan(since: 100, ofTimer: false)) { $0.first = .lost } == .open)
    }

    @Test func `a deleted timer without a kept event is forgotten`() {
        var plan = plan(since: 0, newest: 100)
        plan.isOfDeleted = true
        #expect(start(plan) == .forgotten)
        plan.newestOfTimer = 101
        #expect(start(plan) == .history(since: 0))
        #expect(plan.take(.success(Replayer.History()), in: kept) == .forgotten)
    }

    @Test func `the store says whether the log holds an id`() {
        let old = plan(since: 50)
        let all = plan(since: 50, ofTimer: false)
        let new = plan(since: 300)
        #expect(new.start(in: kept, isHeld: .success(true), showsEvents: true) == .history(since: 300))
        #expect(new.start(in: kept, isHeld: .success(false), showsEvents: true) == .neverGiven)
        #expect(old.start(in: kept, isHeld: .success(false), showsEvents: true) == .history(since: 50))
        #expect(all.start(in: kept, isHeld: .success(false), showsEvents: true) == .tooOld)
        #expect(new.start(in: kept, isHeld: .failure(Self.broken), showsEvents: true) == .unreadable)
    }

    private static let broken = StoreError(.damaged, "a page is torn")

    @Test func `a history from the beginning starts before the timer's first event`() {
        var plan = plan(since: 0)
        var history = Replayer.History()
        history.marks = [200, 400]
        history.oldest = 200
        history.isWhole = true
        #expect(plan.take(.success(history), in: kept) == .open)
        #expect(plan.history == [200, 400])
        #expect(plan.cursor.position == 199)
        #expect(plan.lifeBegan == 0)
    }

    @Test func `a history that goes back less far than the id tells where the timer's life began`() {
        var plan = plan(since: 150)
        var history = Replayer.History()
        history.marks = [400]
        history.oldest = 400
        history.isWhole = true
        #expect(plan.take(.success(history), in: kept) == .open)
        #expect(plan.lifeBegan == 400)
        #expect(plan.cursor.position == 100)
    }

    @Test func `a history without events ends at the newest record`() {
        var plan = plan(since: 300)
        #expect(plan.take(.success(Replayer.History()), in: kept) == .open)
        #expect(plan.cursor.position == 500)
    }

    @Test func `a history with a hole is refused, from the beginning it is not`() {
        var history = Replayer.History()
        history.marks = [400]
        history.oldest = 400
        history.isExpired = true
        var (named, whole) = (plan(since: 50), plan(since: 0))
        #expect(named.take(.success(history), in: kept) == .tooOld)
        #expect(whole.take(.success(history), in: kept) == .open)
    }

    @Test func `while the log can't be read, memory serves as far as it reaches`() {
        var kept = kept
        var plan = plan(since: 300)
        #expect(plan.take(.failure(Self.broken), in: kept) == .unreadable)
        kept.isInMemory = true
        #expect(plan.take(.failure(Self.broken), in: kept) == .open)
    }
}
