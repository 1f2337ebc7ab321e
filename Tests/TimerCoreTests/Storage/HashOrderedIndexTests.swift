import TestSupport
import Testing

@testable import TimerCore

extension Array {
    /// Takes an element out; the last one takes its place.
    mutating func swapRemove(_ index: Int) -> Element {
        swapAt(index, count - 1)
        return removeLast()
    }
}

/// The index against a sorted array.
struct HashOrderedIndexTests {
    /// Ways in which hashes are spread: everywhere, on few values, at either end, on one value, half of them on one.
    static let spreads: [@Sendable (inout SeededGenerator) -> UInt32] = [
        { UInt32.random(in: .min ... .max, using: &$0) }, { UInt32.random(in: 0..<40, using: &$0) << 27 },
        { UInt32.random(in: 0..<100, using: &$0) }, { .max - UInt32.random(in: 0..<100, using: &$0) },
        { _ in 0xABCD_EF01 }, { $0.chance(oneIn: 2) ? 7 : UInt32.random(in: .min ... .max, using: &$0) },
    ]

    private static func walk(_ index: HashOrderedIndex, from hash: UInt32, most: Int = .max) -> [UInt64] {
        var entries: [UInt64] = []
        index.walk(from: hash) { hash, value in
            entries.append(UInt64(hash) << 32 | UInt64(value))
            return entries.count < most
        }
        return entries
    }

    @Test(arguments: spreads.indices)
    func `it holds what was put in, in hash order`(spread: Int) {
        var random = SeededGenerator(seed: UInt64(spread))
        var index = HashOrderedIndex()
        var model: Set<UInt64> = []
        var held: [UInt64] = []
        for step in 0..<6000 {
            let hash = Self.spreads[spread](&random)
            let value = UInt32.random(in: 0..<500, using: &random)
            let entry = UInt64(hash) << 32 | UInt64(value)
            if step % 3 == 2 {
                let gone = held.swapRemove(Int.random(in: held.indices, using: &random))
                model.remove(gone)
                let wasThere = index.remove(hash: UInt32(gone >> 32), value: UInt32(truncatingIfNeeded: gone))
                let isThere = index.remove(hash: UInt32(gone >> 32), value: UInt32(truncatingIfNeeded: gone))
                #expect(wasThere && !isThere)
            } else if model.insert(entry).inserted {
                held.append(entry)
                index.insert(hash: hash, value: value)
            }
            #expect(index.count == model.count)
        }
        let sorted = model.sorted()
        #expect(Self.walk(index, from: 0) == sorted)
        for _ in 0..<50 {
            let hash = Self.spreads[spread](&random)
            let rest = sorted.filter { $0 >> 32 >= hash }
            #expect(Self.walk(index, from: hash) == rest)
            #expect(Self.walk(index, from: hash, most: 3) == Array(rest.prefix(3)))
            let found = index.find(hash: hash) { $0 % 7 == 3 }
            #expect(
                found
                    == rest.first { $0 >> 32 == UInt64(hash) && $0 % (1 << 32) % 7 == 3 }.map {
                        UInt32(truncatingIfNeeded: $0)
                    })
        }
    }

    @Test(arguments: spreads.indices, [[1, 2, 3], [5000], [5000, 3, 5000, 700, 11_000]])
    func `many at a time are as many one by one`(spread: Int, portions: [Int]) {
        var random = SeededGenerator(seed: UInt64(spread))
        var index = HashOrderedIndex()
        var model: [UInt64] = []
        for portion in portions {
            let entries = (0..<portion).map {
                HashOrderedIndex.entry(Self.spreads[spread](&random), UInt32(model.count + $0))
            }
            index.insert(entries)
            model += entries
            #expect(index.count == model.count)
            #expect(Self.walk(index, from: 0) == model.sorted())
        }
        for entry in model.prefix(100) {
            let value = UInt32(truncatingIfNeeded: entry)
            #expect(index.find(hash: UInt32(entry >> 32)) { $0 == value } == value)
        }
    }

    @Test func `all of one hash stay together, found and removed`() {
        var index = HashOrderedIndex()
        for value in 0..<2000 as Range<UInt32> { index.insert(hash: .max, value: value) }
        for value in 0..<300 as Range<UInt32> { index.insert(hash: .max - 1, value: value) }
        #expect(Self.walk(index, from: .max).count == 2000)
        #expect(index.find(hash: .max) { $0 == 1999 } == 1999)
        for value in 0..<2000 as Range<UInt32> { index.remove(hash: .max, value: value) }
        #expect(Self.walk(index, from: 0).count == 300)
    }

    @Test func `an empty one has nothing`() {
        var index = HashOrderedIndex()
        #expect(Self.walk(index, from: 0) == [] && index.count == 0)
        #expect(index.find(hash: 5) { _ in true } == nil)
        let wasThere = index.remove(hash: 5, value: 5)
        #expect(!wasThere)
    }
}
