import Testing
import TimerService

@testable import TimerAPI

struct RestsTests {
    @Test func `an answer that rests on nothing is durable`() {
        let rests = Rests()
        #expect(rests.fate { _, positions in positions == 0...0 ? .durable : .lost } == .durable)
    }

    @Test func `positions of a partition are joined, those of others kept apart`() {
        var rests = Rests()
        for (position, partition) in [(10, 2), (0, 3), (30, 2), (7, 1), (20, 2), (9, 1)] as [(Int64, Int)] {
            rests.add(position, in: partition)
        }
        #expect(rests.positions(in: 2) == 10...30)
        #expect(rests.positions(in: 1) == 7...9)
        #expect(rests.positions(in: 3) == 0...0)
        rests.removeAll(in: 2)
        #expect(rests.positions(in: 2) == 0...0)
        rests.add(8, in: 1)
        #expect(rests.positions(in: 1) == 7...9)
        rests.add(40, in: 2)
        #expect(rests.positions(in: 2) == 40...40)
    }

    @Test(
        arguments: [
            ([.durable, .durable, .durable], .durable), ([.durable, .pending, .durable], .pending),
            ([.pending, .durable, .lost], .lost), ([.lost, .pending, .durable], .lost),
            ([.durable, .lost, .pending], .lost),
        ] as [([Fate], Fate)])
    func `the worst of the partitions counts`(fates: [Fate], expected: Fate) {
        var rests = Rests()
        for partition in fates.indices { rests.add(1, in: partition) }
        #expect(rests.fate { partition, _ in fates[partition] } == expected)
    }
}
