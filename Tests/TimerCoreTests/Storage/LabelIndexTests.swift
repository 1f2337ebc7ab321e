import TestSupport
import Testing

@testable import TimerCore

/// Posting lists against a dictionary of sets.
struct LabelIndexTests {
    private static func hash(_ label: [UInt8]) -> UInt32 { UInt32(label[0] % 3) }

    private static func walk(_ index: LabelIndex, _ label: [UInt8], from hash: UInt32 = 0) -> [UInt64] {
        var members: [UInt64] = []
        index.walk(label, labelHash: Self.hash(label), from: hash) { hash, slot in
            members.append(UInt64(hash) << 32 | UInt64(slot))
            return true
        }
        return members
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a label has exactly its timers, labels that share a hash too`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var index = LabelIndex()
        var model: [[UInt8]: Set<UInt64>] = [:]
        for _ in 0..<8000 {
            let label = [UInt8.random(in: 0..<12, using: &random), 7]
            let hash = UInt32.random(in: 0..<16, using: &random) << 28
            let slot = UInt32.random(in: 0..<(label[0] < 6 ? 2 : 40), using: &random)
            let member = UInt64(hash) << 32 | UInt64(slot)
            if model[label, default: []].contains(member) {
                index.remove(label, labelHash: Self.hash(label), hash: hash, slot: slot)
                model[label, default: []].remove(member)
            } else {
                index.insert(label, labelHash: Self.hash(label), hash: hash, slot: slot)
                model[label, default: []].insert(member)
            }
            #expect(index.count(label, labelHash: Self.hash(label)) == model[label]?.count)
        }
        for (label, members) in model {
            #expect(Self.walk(index, label) == members.sorted())
            #expect(Self.walk(index, label, from: 5 << 28) == members.sorted().filter { $0 >> 60 >= 5 })
        }
    }

    @Test func `an unknown label has none`() {
        var index = LabelIndex()
        index.insert([1], labelHash: 1, hash: 9, slot: 9)
        #expect(index.count([4], labelHash: 1) == 0 && Self.walk(index, [4]) == [])
        index.remove([4], labelHash: 1, hash: 9, slot: 9)
        #expect(Self.walk(index, [1]).count == 1)
    }

    @Test func `the walk ends when it is told to`() {
        var index = LabelIndex()
        for slot in 0..<200 as Range<UInt32> { index.insert([1], labelHash: 1, hash: slot << 20, slot: slot) }
        var seen = 0
        index.walk([1], labelHash: 1, from: 0) { _, _ in
            seen += 1
            return seen < 5
        }
        #expect(seen == 5)
    }
}
