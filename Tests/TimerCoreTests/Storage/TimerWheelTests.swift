import TestSupport
import Testing

@testable import TimerCore

/// The wheel against a dictionary of what is armed.
struct TimerWheelTests {
    /// The instant at which time begins, and how far ahead dues lie and how far time moves, in bits of milliseconds.
    struct Spread: Sendable, CustomTestStringConvertible {
        var start: Int64
        var dueBits: Int64
        var stepBits: Int64
        var testDescription: String { "from \(start), dues 2^\(dueBits), steps 2^\(stepBits)" }
    }

    static let spreads = [
        Spread(start: 0, dueBits: 6, stepBits: 3), Spread(start: 63, dueBits: 8, stepBits: 6),
        Spread(start: 1_800_000_000_000, dueBits: 16, stepBits: 12),
        Spread(start: 1_800_000_000_000, dueBits: 42, stepBits: 38),
        Spread(start: 2_147_483_647_000 - 500, dueBits: 10, stepBits: 6),
        Spread(start: (1 << 31) - 100, dueBits: 9, stepBits: 5),
        Spread(start: (1 << 32) - 100, dueBits: 9, stepBits: 5),
        Spread(start: (1 << 36) - 3, dueBits: 20, stepBits: 10), Spread(start: 4095, dueBits: 30, stepBits: 29),
    ]

    @Test(arguments: spreads, [1, 2, 3] as [UInt64])
    func `everything due comes once, in order, never early`(spread: Spread, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = WheelModel(at: spread.start)
        var now = spread.start
        for round in 0..<400 {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let slot = SlotIndex.random(in: 0..<60, using: &random)
                let ahead = random.number(0...1 << random.number(0...spread.dueBits))
                // Some are overdue, some share their instant.
                let due = random.chance(oneIn: 6) ? now - ahead : random.chance(oneIn: 4) ? now | 63 : now + ahead
                if random.chance(oneIn: 5) { model.cancel(slot) } else { model.arm(slot, due: due) }
            }
            now += random.number(0...1 << random.number(0...spread.stepBits))
            var limit = random.chance(oneIn: 3) ? Int.random(in: 1...5, using: &random) : 100_000
            var calls = 0
            var done = false
            // An overdue timer that is armed amid a slot's entries comes after them.
            var isOrdered = true
            while !done && calls < 1000 {
                let (entries, isDone, areFresh) = model.expire(now, limit: limit)
                done = isDone
                calls += 1
                #expect(areFresh, "an entry that was not armed came, round \(round)")
                #expect(entries.allSatisfy { $0.due <= now } && entries.count <= limit, "round \(round)")
                let dues = entries.map(\.due)
                #expect(dues == dues.sorted() || !isOrdered, "round \(round)")
                if !done && random.chance(oneIn: 4) {
                    model.arm(99, due: now + random.number(-5...5))
                    isOrdered = false
                }
                if calls > 100 { limit = 100_000 }
            }
            #expect(done, "round \(round)")
            #expect((model.nextDue ?? .max) > now, "something due was kept, round \(round)")
            let wake = model.wheel.nextWake
            if let next = model.nextDue { #expect(wake.map { $0 <= next } ?? false, "round \(round)") }
            #expect((wake ?? .max) > now, "round \(round)")
            #expect(model.wheel.live == model.armed.bySlot.count, "round \(round)")
        }
    }

    @Test func `waking is exact once the next due's slot is dealt out`() {
        var model = WheelModel(at: 1000)
        model.arm(1, due: 1_000_000)
        model.arm(2, due: 1_000_001)
        var now: Int64 = 1000
        var wakes = 0
        while let wake = model.wheel.nextWake, wakes < 20 {
            #expect(wake <= 1_000_001)
            now = wake
            wakes += 1
            _ = model.expire(now, limit: 10)
        }
        #expect(now == 1_000_001 && wakes <= 5)
    }

    @Test func `an empty wheel wakes never, also after it held something`() {
        var model = WheelModel(at: 5)
        #expect(model.wheel.nextWake == nil)
        model.arm(1, due: 10)
        #expect(model.expire(10, limit: 10).entries.count == 1)
        #expect(model.wheel.nextWake == nil && model.wheel.count == 0)
    }

    @Test func `jumps of decades hand everything out`() {
        var random = SeededGenerator(seed: 4)
        var model = WheelModel(at: 0)
        let decade: Int64 = 315_576_000_000
        var dues: [Int64] = []
        for slot in 0..<1000 as Range<SlotIndex> {
            let due = random.number(0...200 * decade)
            dues.append(due)
            model.arm(slot, due: due)
        }
        var came: [Int64] = []
        for jump in 1...20 as ClosedRange<Int64> {
            let (entries, done, _) = model.expire(jump * 10 * decade, limit: 1_000_000)
            #expect(done)
            came += entries.map(\.due)
        }
        #expect(came == dues.sorted())
    }

    @Test(arguments: [Int64.min / 4, -1, 0, 1 << 48, 1 << 60, .max])
    func `an instant beyond the wheel's reach is taken`(due: Int64) {
        var model = WheelModel(at: 1_800_000_000_000)
        model.arm(1, due: due)
        model.arm(2, due: 1_800_000_000_050)
        let (entries, done, _) = model.expire(1_800_000_000_100, limit: 100)
        #expect(done && entries.map(\.slot) == (due < 1 << 48 ? [1, 2] : [2]))
    }

    @Test(arguments: [Int64.min / 4, -1, 1 << 48, .max])
    func `a wheel can be made at any instant`(position: Int64) {
        var wheel = TimerWheel(position: position)
        wheel.insert(TimerWheel.Entry(due: 5, slot: 1, generation: 1))
        #expect(wheel.nextWake == 5 && wheel.count == 1)
    }

    @Test func `garbage is swept, a bounded piece a call`() {
        var random = SeededGenerator(seed: 9)
        var model = WheelModel(at: 0)
        for slot in 0..<500 as Range<SlotIndex> { model.arm(slot, due: 1 << 40 + Int64(slot)) }
        var largest = 0
        for round in 0..<200 {
            for _ in 0..<500 {
                let slot = SlotIndex.random(in: 0..<500, using: &random)
                model.arm(slot, due: random.number(1 << 20...1 << 40))
            }
            var calls = 0
            while model.wheel.wantsSweep && calls < 1000 {
                let (entries, _, _) = model.expire(Int64(round), limit: 256)
                #expect(entries.isEmpty)
                calls += 1
            }
            let isSwept = !model.wheel.wantsSweep
            #expect(isSwept)
            largest = max(largest, model.wheel.count)
        }
        #expect(model.wheel.live == 500)
        #expect(largest <= 2 * 500 + 4096)
        let (entries, done, _) = model.expire(1 << 42, limit: 1_000_000)
        #expect(done && entries.count == 500 && model.wheel.count == 0)
    }

    /// A wheel of which one far slot holds so many dead entries that it is swept.
    private static func littered(_ entries: Int, due: Int64) -> WheelModel {
        var model = WheelModel(at: 0)
        for index in 0..<entries { model.arm(SlotIndex(index % 100), due: due + Int64(index % 7)) }
        return model
    }

    @Test func `a sweep takes few calls, each of which looks at a bounded number of entries`() {
        var model = Self.littered(20_000, due: 1 << 30)
        var calls = 0
        while model.wheel.wantsSweep && calls < 1000 {
            let before = model.wheel.count
            #expect(model.expire(5, limit: 64).entries.isEmpty)
            let dropped = before - model.wheel.count
            #expect(dropped <= 32 * 16)
            calls += 1
        }
        #expect(calls <= 20_000 / (32 * 16) + 1)
    }

    @Test func `what is due does not wait for a sweep`() {
        var model = Self.littered(40_000, due: 1 << 30)
        model.arm(500, due: 10)
        model.arm(501, due: 11)
        let wants = model.wheel.wantsSweep
        #expect(wants)
        // The sweep of the slot has begun, and takes many more calls.
        for _ in 0..<20 { #expect(model.expire(5, limit: 64).entries.isEmpty) }
        #expect(model.expire(10, limit: 64).entries.map(\.slot) == [500])
        model.arm(502, due: 12)
        #expect(model.expire(12, limit: 64).entries.map(\.slot) == [501, 502])
        let (sweeps, count) = (model.wheel.sweeps, model.wheel.count)
        #expect(sweeps > 0 && count > 10_000)
    }

    @Test func `a slot whose time comes while it is swept is handed out in time`() {
        let due: Int64 = 1 << 20
        var model = Self.littered(20_000, due: due)
        #expect(model.expire(5, limit: 64).entries.isEmpty)
        #expect(model.wheel.nextWake.map { $0 <= due } ?? false)
        var came: [TimerWheel.Entry] = []
        for now in due - 1...due + 7 {
            var done = false
            while !done {
                let (entries, isDone, areFresh) = model.expire(now, limit: 64)
                #expect(areFresh && entries.allSatisfy { $0.due == now })
                came += entries
                done = isDone
            }
        }
        let (live, count) = (model.wheel.live, model.wheel.count)
        #expect(came.count == 100 && live == 0 && count == 0)
    }

    @Test func `what is heavy counts for several`() {
        var model = WheelModel(at: 0)
        for slot in 0..<600 as Range<SlotIndex> {
            model.arm(slot, due: 10)
            model.armed.weights[slot] = 33
        }
        let (entries, done, _) = model.expire(10, limit: 512)
        #expect(entries.count == 16 && !done)
    }

    @Test func `every armed entry is in one run, slots in time order`() {
        var random = SeededGenerator(seed: 10)
        var model = WheelModel(at: 77)
        for slot in 0..<800 as Range<SlotIndex> { model.arm(slot, due: random.number(0...1 << random.number(0...40))) }
        for slot in 0..<100 as Range<SlotIndex> { model.arm(slot * 3, due: random.number(78...100_000)) }
        // This leaves a slot half emptied.
        _ = model.expire(3000, limit: 20)
        var seen: [SlotIndex: Int] = [:]
        var starts: [Int64] = []
        var isWithin = true
        let armed = model.armed
        var slot: Int?
        repeat {
            for run in model.wheel.runs(in: slot) {
                model.wheel.forEach(in: run) { entry in
                    if armed.isArmed(with: entry) { seen[entry.slot, default: 0] += 1 }
                    isWithin = isWithin && (run.earliest...run.latest).contains(entry.due)
                }
            }
            slot = model.wheel.nextSlot(from: slot.map { $0 + 1 } ?? 0)
            if let slot { starts.append(model.wheel.start(of: slot)) }
        } while slot != nil
        #expect(isWithin)
        #expect(seen.count == armed.bySlot.count && seen.values.allSatisfy { $0 == 1 })
        #expect(starts == starts.sorted())
    }
}
