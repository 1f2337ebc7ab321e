import Testing
import TimerCore

@testable import TimerAPI

struct SoonestMergeTests {
    private static func places(_ dues: [Int64], _ partition: UInt64) -> [Scheduler.DuePlace] {
        dues.map { Scheduler.DuePlace(due: $0, place: partition << 62 | UInt64($0)) }
    }

    /// Joins searches that have found these instants, each complete up to its last one where `isCut`.
    private static func merge(_ limit: Int, _ found: [(dues: [Int64], isCut: Bool)]) -> SoonestMerge {
        var merge = SoonestMerge(limit: limit)
        for (number, (dues, isCut)) in found.enumerated() {
            let places = places(dues, UInt64(number))
            merge.add(
                places.enumerated().map { (place: $0.element, slot: SlotIndex($0.offset)) },
                next: isCut ? places.last : nil, of: number)
        }
        return merge
    }

    @Test func `the soonest of all partitions come first`() {
        let merge = Self.merge(10, [([10, 40], false), ([], false), ([20, 30, 50], false)])
        #expect(merge.entries.map(\.place.due) == [10, 20, 30, 40, 50])
        #expect(merge.entries.map(\.partition) == [0, 2, 2, 0, 2])
        #expect(merge.next == nil)
    }

    @Test func `no more than the limit are kept, and the next page begins behind the last`() {
        let merge = Self.merge(3, [([10, 40, 60], true), ([20, 30, 50], true)])
        #expect(merge.entries.map(\.place.due) == [10, 20, 30])
        #expect(merge.next == merge.entries.last?.place)
    }

    @Test func `nothing is taken beyond where one of the searches was cut`() {
        let merge = Self.merge(10, [([10, 20], true), ([15, 30, 40], false)])
        #expect(merge.entries.map(\.place.due) == [10, 15, 20])
        #expect(merge.next?.due == 20)
    }

    @Test func `a partition without any changes nothing`() {
        let merge = Self.merge(2, [([], false), ([10, 20], true), ([], false)])
        #expect(merge.entries.map(\.place.due) == [10, 20])
        #expect(merge.next?.due == 20)
    }
}
