import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// The most that one hold of the engine's lock does.
struct HoldBoundTests {
    private static let large = [UInt8](repeating: 0x31, count: 60_000)

    @Test(arguments: [false, true])
    func `a hold of the fire loop copies a bounded number of bytes`(isSlow: Bool) throws {
        let rig = try Rig(starts: false)
        for index in 0..<100 {
            try rig.create("t\(index)", TimerRules(.after(1000)), payload: Self.large)
            rig.locked { $0.batch.records.clear() }
        }
        rig.time.pass(milliseconds: 1000)
        // A slow hold has one step.
        if isSlow { rig.time.takeTime(nanoseconds: EngineConfiguration.longestFiring) }
        // Each step may end with a timer that is larger than what is left.
        let bytesPerStep = EngineConfiguration.stepLimit * EngineConfiguration.bytesPerChange + Self.large.count
        let most = (isSlow ? 1 : EngineConfiguration.mostFireSteps) * bytesPerStep
        var fires = 0
        while case .more = rig.engine.fire() {
            #expect(rig.locked { $0.batch.byteCount } <= most)
            fires += rig.locked { $0.batch.byteCount } / Self.large.count
            rig.locked { $0.batch.records.clear() }
        }
        fires += rig.locked { $0.batch.byteCount } / Self.large.count
        #expect(fires == 100)
    }

    @Test func `a turn says when it has cost enough`() throws {
        let rig = try Rig(starts: false)
        func changes(payload: [UInt8]) throws -> Int {
            var made = 0
            try rig.change { turn throws(ServiceError) in
                while !turn.isSpent && made < 10_000 {
                    var bytes = definition("t\(made)-\(payload.count)", payload: payload)
                    _ = try turn.create(rig.key("t\(made)-\(payload.count)"), definition: &bytes)
                    made += 1
                }
            }
            return made
        }
        #expect(try changes(payload: []) == EngineConfiguration.holdLimit)
        #expect(try changes(payload: Self.large) <= 6)
    }

    @Test func `a rule that is read costs more than a small change`() throws {
        let rig = try Rig(starts: false)
        func changes(_ name: String, _ text: (Int) -> String) throws -> Int {
            var made = 0
            try rig.change { turn throws(ServiceError) in
                while !turn.isSpent && made < 10_000 {
                    let rule = try? RecurrenceSchedule(Array(text(made).utf8), zone: Array("UTC".utf8), from: nil)
                    guard let rule else { break }
                    var bytes = definition("\(name)-\(made)", TimerRules(.recurrence(rule)))
                    _ = try turn.create(rig.key("\(name)-\(made)"), definition: &bytes)
                    made += 1
                }
            }
            return made
        }
        let others = try changes("other") { "FREQ=WEEKLY;BYMONTH=1;COUNT=\($0 + 9000)" }
        #expect(others <= EngineConfiguration.holdLimit / 8)
        // A rule that is known costs nothing.
        let same = try changes("same") { _ in "FREQ=WEEKLY;BYMONTH=1;COUNT=8000" }
        #expect(same > EngineConfiguration.holdLimit / 2)
    }

    @Test func `fires of rules that are no longer known are few at once`() throws {
        let rig = try Rig(starts: false)
        for index in 0..<100 {
            let text = "FREQ=DAILY;BYSECOND=0;BYMINUTE=0;BYHOUR=0;COUNT=\(index + 9000)"
            try rig.create(
                "t\(index)",
                TimerRules(.recurrence(try RecurrenceSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: nil))))
        }
        rig.locked { $0.batch.records.clear() }
        rig.time.pass(milliseconds: Schedule.day)
        // Each hold of the lock lasts so long that it has one step of the scheduler.
        rig.time.takeTime(nanoseconds: EngineConfiguration.longestFiring)
        var steps = 1
        while case .more = rig.engine.fire() { steps += 1 }
        #expect(steps >= 100 * 8 / EngineConfiguration.stepLimit)
    }

    @Test func `reading large timers costs their size`() throws {
        let rig = try Rig(starts: false)
        try rig.create("large", payload: Self.large)
        var reads = 0
        rig.engine.turn { turn in
            guard let slot = turn.find(rig.key("large")) else { return }
            var view = TimerView()
            while !turn.isSpent && reads < 10_000 {
                turn.copy(slot, into: &view)
                reads += 1
            }
        }
        #expect(reads <= 6)
    }

    @Test func `a step of compaction writes a bounded number of bytes anew`() throws {
        let rig = try Rig(starts: false)
        var carried = Engine.Carried()
        for index in 0..<100 {
            let position = try rig.create("t\(index)", payload: Self.large)
            carried.bases.append((key: rig.key("t\(index)"), position: position))
            rig.locked { $0.batch.records.clear() }
        }
        // The record of the definition is that of the creation, not of the activation.
        for index in carried.bases.indices { carried.bases[index].position -= 1 }
        var done = 0
        var written = 0
        while done < 100 {
            let next = try #require(rig.engine.carry(carried, from: done))
            #expect(next > done && next - done <= 6)
            done = next
            written += rig.locked { $0.batch.byteCount }
            rig.locked { $0.batch.records.clear() }
        }
        #expect(written > 100 * Self.large.count)
    }

    @Test func `a step of receivers that say stop drops a bounded number of deliveries`() throws {
        let rig = try Rig(backlog: 10_000)
        var rules = TimerRules(.every(3_600_000, first: .period))
        rules.deliveries = EventTypes(.fired)
        var oldest: [Int64] = []
        for name in ["a", "b", "c", "d"] {
            try rig.change { turn throws(ServiceError) in
                var bytes = definition(name, rules, webhook: [1, 2, 3])
                _ = try turn.create(rig.key(name), definition: &bytes)
            }
            oldest.append(try rig.apply(name, .fire))
            for _ in 1..<500 { try rig.apply(name, .fire) }
        }
        try rig.settle()
        #expect(rig.begin(oldest).count == 4)
        let ends = oldest.map { id in
            var outcome = DeliveryOutcome(.deliveryDead, delivery: id, attempt: 1)
            outcome.reason = .gone
            return AttemptEnd(outcome: outcome)
        }
        // Each end stops the 500 deliveries of its timer, and one hold takes two ends.
        #expect(rig.engine.settle(ends[...]).taken == 2)
        #expect(rig.engine.settle(ends[2...]).taken == 2)
        #expect(rig.locked { $0.scheduler.pendingDeliveries } == 0)
        rig.stop()
    }
}
