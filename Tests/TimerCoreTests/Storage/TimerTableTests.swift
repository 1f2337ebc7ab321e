import TestSupport
import Testing

@testable import TimerCore

/// The table against a dictionary.
struct TimerTableTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `timers are found by name while others come and go`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bench = Bench()
        var model: [String: (slot: SlotIndex, label: String)] = [:]
        for step in 0..<3000 {
            let id = "timer-\(random.number(0...400))"
            if let known = model[id] {
                #expect(try bench.slot(id) == known.slot)
                if random.chance(oneIn: 2) {
                    try bench.delete(id: id)
                    model[id] = nil
                }
            } else {
                let label = "\(random.number(0...5))"
                try bench.create(rules(.after(1000)), id: id, labels: [("k", label), ("all", "")], payload: "\(step)")
                model[id] = (try bench.slot(id), label)
            }
            #expect(bench.scheduler.count == model.count)
        }
        #expect(Set(model.values.map(\.slot)).count == model.count)
        // Slots are used again.
        #expect(bench.scheduler.table.slotCount <= 402)
        for number in 0...400 as ClosedRange<Int64> {
            #expect(bench.exists("timer-\(number)") == (model["timer-\(number)"] != nil))
        }
        for label in 0...5 {
            let expected = model.values.filter { $0.label == "\(label)" }.count
            #expect(bench.scheduler.table.count(of: .labelled(Bench.encoded([("k", "\(label)")]))) == expected)
        }
        let bytes = model.values.reduce(0) { sum, timer in
            sum + bench.scheduler.withDefinition(timer.slot) { $0.count }
        }
        #expect(bench.scheduler.definitionBytes == bytes)
    }

    @Test func `a name is not found by its beginning, nor by a longer one`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1)), id: "abc")
        #expect(!bench.exists("ab") && !bench.exists("abcd") && bench.exists("abc"))
    }

    @Test func `a deleted timer is readable until the step is finished`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1)), id: "abc", payload: "[1]")
        let slot = try bench.slot("abc")
        var effects: [Effect] = []
        try bench.scheduler.delete(slot, bench.now, if: .none, &effects)
        #expect(!bench.exists("abc"))
        #expect(bench.scheduler.withDefinition(slot) { Definition.layout($0)?.payload?.count } == 3)
        try bench.create(rules(.after(1)), id: "abc")
        #expect(try bench.slot("abc") != slot)
        #expect(bench.scheduler.withDefinition(slot) { $0.count } == 0)
    }

    @Test func `positions of records are kept and chained`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1)))
        let slot = try bench.slot()
        #expect(bench.scheduler.stamp(slot, position: 7, isBase: true, isEvent: true) == 0)
        #expect(bench.scheduler.stamp(slot, position: 8, isBase: false, isEvent: true) == 7)
        #expect(bench.scheduler.stamp(slot, position: 9, isBase: true, isEvent: false) == 8)
        #expect(bench.scheduler.lastRecord(slot) == 9)
        #expect(bench.scheduler.lastEvent(slot) == 8)
        #expect(bench.scheduler.base(slot) == 9)
    }
}
