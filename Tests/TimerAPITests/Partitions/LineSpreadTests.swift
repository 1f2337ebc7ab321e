import Testing
import TimerCore
import TimerLog

@testable import TimerAPI

struct LineSpreadTests {
    private let layout: PartitionLayout
    private let siphash = SipHash(secret: [UInt8](0..<16))

    init() throws { layout = try #require(PartitionLayout(strided: 4)) }

    private func partition(_ id: [UInt8]) -> Int {
        layout.partition(ofHash: TimerKey(id: id.span, siphash: siphash).hash)
    }

    private func spread(_ ids: [String?], key: Hash128? = nil, _ made: IDs = IDs()) -> LineSpread {
        var spread = LineSpread(count: ids.count, layout, siphash: siphash, key: key)
        for id in ids { spread.add(id.map { Array($0.utf8) }, makeID: made.next) }
        return spread
    }

    /// Ids that are never the same.
    private final class IDs {
        private var count = 0

        func next() -> [UInt8] {
            count += 1
            return Array("made-\(count)".utf8)
        }
    }

    @Test func `each line is in one leg, that of its timer's partition, and the order within a leg is the batch's`() {
        let ids = (0..<200).map { "timer-\($0 % 50)" }
        let spread = spread(ids)
        #expect(spread.next == nil)
        #expect(spread.order.sorted() == Array(ids.indices))
        #expect(spread.legs.map(\.partition) == [0, 1, 2, 3])
        for leg in spread.legs {
            let lines = Array(spread.order[leg.lines])
            #expect(lines == lines.sorted())
            for line in lines { #expect(partition(Array(ids[line].utf8)) == leg.partition) }
        }
    }

    @Test func `a line without an id is where the id that was drawn for it is`() {
        let made = IDs()
        let spread = spread([nil, nil, nil, nil, nil, nil], made)
        for leg in spread.legs {
            for line in spread.order[leg.lines] {
                #expect(partition(spread.id(ofLine: line, makeID: made.next)) == leg.partition)
            }
        }
    }

    @Test func `under a key a line without an id has the same partition each time, and an id of it is drawn`() {
        let key = Hash128(high: 7, low: 9)
        let made = IDs()
        let first = spread([String?](repeating: nil, count: 40), key: key, made)
        let second = spread([String?](repeating: nil, count: 40), key: key, made)
        #expect(first.order == second.order)
        #expect(first.legs.count > 1)
        for leg in first.legs {
            for line in first.order[leg.lines] {
                #expect(partition(first.id(ofLine: line, makeID: made.next)) == leg.partition)
            }
        }
        let other = spread([String?](repeating: nil, count: 40), key: Hash128(high: 8, low: 9), made)
        #expect(other.order != first.order)
    }

    @Test func `under a key one UUID is drawn for each line, however many partitions there are`() throws {
        let layout = try #require(PartitionLayout(strided: 1024))
        let source = IDSource()
        var spread = LineSpread(count: 500, layout, siphash: siphash, key: Hash128(high: 7, low: 9))
        for _ in 0..<500 { spread.add(nil, makeID: source.next) }
        var drawn = 0
        var ids: Set<[UInt8]> = []
        for leg in spread.legs {
            for line in spread.order[leg.lines] {
                let id = spread.id(ofLine: line) {
                    drawn += 1
                    return source.next()
                }
                #expect(layout.partition(ofHash: TimerKey(id: id.span, siphash: siphash).hash) == leg.partition)
                ids.insert(id)
            }
        }
        #expect(drawn == 500 && ids.count == 500)
    }

    @Test(arguments: [0, 1, 2, 3] as [UInt64])
    func `under a key the first leg is in the key's partition, if it has lines or not`(home: UInt64) {
        let ids = (0..<6).map { "timer-\($0 % 2)" }
        let spread = spread(ids, key: Hash128(high: home << 62, low: 1))
        #expect(spread.legs.first?.partition == Int(home))
        #expect(Set(spread.legs.map(\.partition)) == Set(ids.map { partition(Array($0.utf8)) } + [Int(home)]))
        #expect(spread.legs.count == Set(spread.legs.map(\.partition)).count)
        #expect(spread.legs.flatMap(\.lines) == Array(ids.indices))
    }

    @Test func `lines without ids are in an eighth of the partitions`() throws {
        let layout = try #require(PartitionLayout(strided: 64))
        let made = IDs()
        var spread = LineSpread(count: 100, layout, siphash: siphash, key: nil)
        for _ in 0..<100 { spread.add(nil, makeID: made.next) }
        #expect(Set(spread.legs.map { $0.partition / 8 }).count == 1)
        #expect(spread.legs.flatMap(\.lines) == Array(0..<100))
    }

    @Test func `a batch without lines has one leg, of none`() {
        let spread = spread([])
        #expect(spread.next == nil)
        #expect(spread.legs.map(\.lines) == [0..<0])
    }
}
