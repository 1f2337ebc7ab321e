import TestSupport
import Testing

@testable import TimerCore

/// Timers that move from one scheduler to another, whose clocks differ.
struct ArrivalsTests {
    /// The clocks of another server when a bench's calendar shows `wall`; the elapsed clock and the downtime differ.
    private static func elsewhere(at wall: Int64) -> Now {
        let elapsed: Int64 = 77_000_000
        return Now(elapsed: elapsed * 1_000_000, wallOffset: Bench.wall(wall) - elapsed, downtime: 123_456)
    }

    private func arrive(
        _ bench: Bench, _ id: String = "t", at now: Now, in other: inout Scheduler
    ) throws -> (slot: SlotIndex, effects: [Effect]) {
        let slot = try bench.slot(id)
        let rules = bench.scheduler.rules(slot)
        let arrival = TimerArrival(
            bench.scheduler.progress(slot), bench.scheduler.kicks(slot), rules,
            createdAt: bench.scheduler.createdAt(slot), at: bench.now)
        var definition = bench.scheduler.withDefinition(slot) { definition in definition.indices.map { definition[$0] }
        }
        let key = TimerKey(id: Array(id.utf8).span, siphash: other.siphash)
        var effects: [Effect] = []
        let found = try other.place(key, definition: &definition, arrival, now, &effects)
        other.finishStep()
        return (found, effects)
    }

    private func other() -> Scheduler { Scheduler(secret: [UInt8](repeating: 9, count: 16)) }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `what goes there and back is what it was`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let rules = TimerRules.random(&generator, wall: Bench.wallStart)
        var progress = TimerProgress.random(&generator)
        progress.due = Bench.wallStart + Int64.random(in: -1_000_000...1_000_000, using: &generator)
        let kicks: KickProgress? = rules.schedule.kind == .watchdog ? .random(&generator) : nil
        let here = Now(elapsed: 5_000_000_000_000, wallOffset: Bench.wallStart - 5_000_000, downtime: 99)
        let there = Self.elsewhere(at: 0)
        let gone = TimerArrival(progress, kicks, rules, createdAt: 1, at: here)
        let arrived = gone.arrived(rules, at: there)
        let back = TimerArrival(arrived.0, arrived.1, rules, createdAt: 1, at: there).arrived(rules, at: here)
        var expected = progress
        if progress.state == .idle { expected.due = 0 }
        #expect(back.0 == expected)
        #expect(back.1 == kicks)
    }

    @Test func `a running timer is due at the same instant`() throws {
        let bench = Bench()
        _ = try bench.create(rules(.after(10_000)), id: "t")
        bench.pass(4000)
        var other = other()
        let now = Self.elsewhere(at: 5000)
        let (slot, effects) = try arrive(bench, at: now, in: &other)
        #expect(now.wall(of: other.progress(slot).due, on: .continuous) == Bench.wall(10_000))
        #expect(effects.map(\.type) == [.created] && effects.map(\.reason) == [.imported])
        #expect(effects.first?.nextFireAt == Bench.wall(10_000))
        #expect(other.progress(slot).version == (try bench.progress().version))
    }

    @Test func `the suspending clock keeps the time left`() throws {
        let bench = Bench()
        _ = try bench.create(rules(.watchdog(10_000)) { $0.clock = .suspending }, id: "t")
        bench.pass(4000)
        var other = other()
        let now = Self.elsewhere(at: 1_000_000)
        let (slot, _) = try arrive(bench, at: now, in: &other)
        #expect(now.millisecondsLeft(until: other.progress(slot).due, on: .suspending) == 6000)
    }

    @Test func `an overdue timer misfires, and no other one for it`() throws {
        let bench = Bench()
        _ = try bench.create(rules(.every(1000, first: .period)) { $0.misfire = .skip }, id: "t")
        var other = other()
        let now = Self.elsewhere(at: 5500)
        let (slot, _) = try arrive(bench, at: now, in: &other)
        var effects: [Effect] = []
        while !other.advance(to: now, limit: 64, &effects) { other.finishStep() }
        #expect(effects.compactMap(\.type) == [])
        #expect(other.progress(slot).missedCount == 5)
        #expect(other.misfires(slot, on: .wall) == other.misfireUntil[.wall], "its lateness is forgotten")
    }

    @Test func `versions lie above those of deleted timers`() throws {
        let bench = Bench()
        _ = try bench.create(rules(.after(10_000)), id: "t")
        var other = other()
        other.foldVersionFloor(41)
        let (slot, _) = try arrive(bench, at: Self.elsewhere(at: 0), in: &other)
        #expect(other.progress(slot).version == 42)
    }

    @Test func `an id that is taken, and one too many, are refused`() throws {
        let bench = Bench()
        _ = try bench.create(rules(.after(10_000)), id: "t")
        var other = Scheduler(secret: [UInt8](repeating: 9, count: 16), maximumTimers: 1)
        _ = try arrive(bench, at: Self.elsewhere(at: 0), in: &other)
        #expect(throws: TimerRefusal.exists) { try arrive(bench, at: Self.elsewhere(at: 0), in: &other) }
        _ = try bench.create(rules(.after(10_000)), id: "u")
        #expect(throws: TimerRefusal.timerLimit(1)) { try arrive(bench, "u", at: Self.elsewhere(at: 0), in: &other) }
    }
}
