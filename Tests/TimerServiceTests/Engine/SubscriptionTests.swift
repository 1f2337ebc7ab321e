import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Timers that run only while a client follows their events.
struct SubscriptionTests {
    private static func rules(_ schedule: Schedule = .after(60_000)) -> TimerRules {
        var rules = TimerRules(schedule)
        rules.start = .subscriber
        rules.stop = .subscriber
        return rules
    }

    private func rig(_ rules: TimerRules = rules()) throws -> Rig {
        let rig = try Rig()
        try rig.create("t", rules)
        return rig
    }

    /// Subscribes as a request for a stream does; the stream itself may never begin.
    private func requestStream(_ rig: Rig, _ id: String = "t") throws(ServiceError) {
        try rig.change { turn throws(ServiceError) in
            let key = rig.key(id)
            guard let slot = turn.find(key) else { throw .refused(.notFound) }
            try turn.subscribe(key, slot)
        }
    }

    private func come(_ rig: Rig, _ id: String = "t") throws(ServiceError) {
        try requestStream(rig, id)
        rig.engine.subscribe(rig.key(id))
    }

    private func leave(_ rig: Rig, _ id: String = "t") { rig.engine.unsubscribe(rig.key(id)) }

    /// Passes time, with a round of the fire loop every half second.
    private func pass(_ rig: Rig, _ milliseconds: Int64) {
        var left = milliseconds
        while left > 0 {
            rig.time.pass(milliseconds: min(left, 500))
            rig.fire()
            left -= 500
        }
    }

    private func state(_ rig: Rig) throws -> TimerState { try #require(rig.progress("t")).state }

    /// Types of the events in the log, with their reasons.
    private func told(_ rig: Rig) throws -> [String] {
        try rig.settle()
        return try rig.records().compactMap { record in
            guard case .event(let type, let reason, _) = record.content else { return nil }
            return reason == .none ? "\(type.name)" : "\(type.name) \(reason.name)"
        }
    }

    @Test func `two seconds after the last one left it is suspended, and the next one resumes it`() throws {
        let rig = try rig()
        try come(rig)
        pass(rig, 10_000)
        leave(rig)
        pass(rig, 1_999)
        #expect(try state(rig) == .running)
        pass(rig, 1)
        let progress = try #require(rig.progress("t"))
        #expect(progress.state == .suspended && progress.flags == .unsubscribed)
        #expect(progress.due == 48_000_000)
        pass(rig, 100_000)
        try come(rig)
        #expect(try state(rig) == .running)
        #expect(try #require(rig.progress("t")).flags == [])
        pass(rig, 47_999)
        #expect(try state(rig) == .running)
        pass(rig, 1)
        #expect(
            try told(rig) == [
                "created", "activated", "suspended unsubscribed", "resumed", "fired due", "completed",
            ])
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `the alarm is set for it`() throws {
        let rig = try rig()
        try come(rig)
        // The deadline of the request itself has passed.
        pass(rig, 3_000)
        leave(rig)
        #expect(rig.alarm.armed == rig.time.boottime() + Subscriptions.patience)
        rig.stop()
    }

    @Test func `a subscriber that comes back in time, or stays, keeps it running`() throws {
        let rig = try rig(Self.rules(.every(1_000_000, first: .period)))
        try come(rig)
        for _ in 0..<20 {
            leave(rig)
            pass(rig, 1_500)
            try come(rig)
        }
        try come(rig)
        leave(rig)
        pass(rig, 60_000)
        #expect(try told(rig) == ["created", "activated"])
        rig.stop()
    }

    @Test func `a stream that was let in and never came to it is as if it had left`() throws {
        let rig = try rig()
        try requestStream(rig)
        pass(rig, 2_000)
        #expect(try told(rig) == ["created", "activated", "suspended unsubscribed"])
        try requestStream(rig)
        pass(rig, 1_000)
        try requestStream(rig)
        pass(rig, 1_000)
        #expect(try state(rig) == .running)
        pass(rig, 1_000)
        #expect(try state(rig) == .suspended)
        rig.stop()
    }

    @Test func `what a command suspended stays so, and what has ended`() throws {
        let rig = try rig()
        try come(rig)
        try rig.apply("t", .suspend)
        leave(rig)
        pass(rig, 3_000)
        try come(rig)
        #expect(try state(rig) == .suspended)
        try rig.apply("t", .cancel)
        leave(rig)
        pass(rig, 3_000)
        try come(rig)
        #expect(try told(rig) == ["created", "activated", "suspended", "cancelled"])
        rig.stop()
    }

    @Test func `a client may resume, reschedule and cancel one that lost its subscribers`() throws {
        let rig = try rig()
        try come(rig)
        leave(rig)
        pass(rig, 2_000)
        try rig.change { turn throws(ServiceError) in
            _ = try turn.apply(.reschedule, rig.key("t"), target: .after(5_000), if: .none)
        }
        #expect(try #require(rig.progress("t")).flags.contains(.unsubscribed))
        try come(rig)
        pass(rig, 5_000)
        #expect(try state(rig) == .completed)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a watchdog resumes with its full period`() throws {
        let rig = try rig(Self.rules(.watchdog(10_000)))
        try come(rig)
        pass(rig, 7_000)
        leave(rig)
        pass(rig, 60_000)
        try come(rig)
        pass(rig, 9_999)
        #expect(try #require(rig.progress("t")).fireCount == 0)
        pass(rig, 1)
        #expect(try #require(rig.progress("t")).fireCount == 1)
        rig.stop()
    }

    @Test func `ten thousand come and go, and nothing of them is left`() throws {
        let rig = try rig()
        for _ in 0..<10_000 { try come(rig) }
        for _ in 0..<9_999 { leave(rig) }
        pass(rig, 10_000)
        #expect(try state(rig) == .running)
        leave(rig)
        for _ in 0..<10_000 {
            try come(rig)
            leave(rig)
        }
        pass(rig, 2_000)
        #expect(try told(rig) == ["created", "activated", "suspended unsubscribed"])
        #expect(rig.locked { $0.subscriptions.followed.isEmpty && $0.subscriptions.nextWake == nil })
        rig.stop()
    }

    @Test func `every timer that many subscribers leave at once is suspended, in bounded steps`() throws {
        let rig = try Rig()
        let ids = (0..<1_500).map { "t\($0)" }
        for id in ids {
            try rig.create(id, Self.rules())
            try come(rig, id)
        }
        for id in ids { leave(rig, id) }
        rig.time.pass(milliseconds: 2_000)
        var steps = 1
        while case .more = rig.engine.fire() { steps += 1 }
        #expect(steps >= 3)
        #expect(ids.allSatisfy { rig.progress($0)?.state == .suspended })
        rig.stop()
    }

    /// Runs a timer with a subscriber for ten seconds, then crashes the server, which is down for `downtime`
    /// milliseconds. Returns the server after the crash and the one before.
    private func restarted(
        _ rules: TimerRules = rules(), downtime: Int64 = 100_000, steps calendar: Int64 = 0
    ) throws -> (rig: Rig, first: Rig) {
        let first = try rig(rules)
        try come(first)
        pass(first, 10_000)
        try first.settle()
        first.time.pass(milliseconds: downtime)
        first.time.step(milliseconds: calendar)
        return (try Rig(first.store, time: first.time), first)
    }

    @Test(arguments: [0, -3_600_000, 3_600_000] as [Int64])
    func `after a crash it is suspended as of the last uptime, unless one comes within ten seconds`(
        calendar: Int64
    ) throws {
        let (rig, first) = try restarted(steps: calendar)
        pass(rig, 9_999)
        // The timer was due 40 seconds ago, and would have fired if it were armed.
        #expect(try state(rig) == .running)
        pass(rig, 1)
        #expect(try told(rig) == ["created", "activated", "suspended unsubscribed"])
        // The last row before may be up to ten seconds older than the crash.
        let left = try #require(rig.progress("t")).due
        #expect((50_000_000...60_000_000).contains(left))
        try come(rig)
        pass(rig, left / 1000 - 1)
        #expect(try state(rig) == .running)
        pass(rig, 2)
        #expect(try state(rig) == .completed)
        rig.stop()
        first.stop()
    }

    @Test func `a subscriber within ten seconds finds it running, and missed instants are judged as ever`() throws {
        let (rig, first) = try restarted()
        pass(rig, 9_000)
        try come(rig)
        pass(rig, 1)
        #expect(try told(rig) == ["created", "activated", "fired misfire", "completed"])
        rig.stop()
        first.stop()
    }

    @Test func `a command during the wait counts from then`() throws {
        let (rig, first) = try restarted()
        pass(rig, 5_000)
        try rig.change { turn throws(ServiceError) in
            _ = try turn.apply(.reschedule, rig.key("t"), target: .after(30_000), if: .none)
        }
        pass(rig, 5_000)
        #expect(try #require(rig.progress("t")).due == 25_000_000)
        rig.stop()
        first.stop()
    }

    @Test func `one that is deleted, replaced or kicked during the wait does no harm`() throws {
        let (rig, first) = try restarted(Self.rules(.watchdog(60_000)))
        try rig.apply("t", .kick)
        pass(rig, 20_000)
        #expect(try state(rig) == .suspended)
        try come(rig)
        try rig.settle()
        let again = try Rig(rig.store, time: rig.time)
        try again.change { turn throws(ServiceError) in try turn.delete(again.key("t"), if: .none) }
        try again.create("other", TimerRules(.after(1_000)))
        pass(again, 20_000)
        #expect(again.progress("other")?.state == .completed)
        again.stop()
        rig.stop()
        first.stop()
    }

    @Test func `a timer that replaces it during the wait waits for no subscriber`() throws {
        let (rig, first) = try restarted()
        try rig.change { turn throws(ServiceError) in
            var bytes = definition("t", TimerRules(.after(1_000)))
            _ = try turn.put(rig.key("t"), definition: &bytes, if: .none, unless: .none)
        }
        pass(rig, 1_000)
        #expect(try state(rig) == .completed)
        rig.stop()
        first.stop()
    }
}
