import Testing
import TimerCore
import TimerLog

@testable import TimerAPI

struct DrawRangeTests {
    private let siphash = SipHash(secret: [UInt8](0..<16))
    private let ids = IDSource()

    private func partitions(_ count: Int, of layout: PartitionLayout, at time: Int64) -> [Int] {
        let range = DrawRange(layout, siphash: siphash, at: time)
        return (0..<count).map { _ in
            layout.partition(ofHash: TimerKey(id: range.id(ids.next).span, siphash: siphash).hash)
        }
    }

    @Test(arguments: [(2, 1), (4, 1), (8, 1), (64, 8), (1024, 128)])
    func `timers of one moment are in an eighth of the partitions, all over it`(count: Int, size: Int) throws {
        let layout = try #require(PartitionLayout(strided: count))
        let partitions = partitions(20 * size, of: layout, at: 1_790_000_000_000)
        #expect(Set(partitions.map { $0 / size }).count == 1)
        #expect(Set(partitions).count > size / 2)
    }

    @Test func `the eighth stays for some milliseconds, and over time each partition has its share`() throws {
        let layout = try #require(PartitionLayout(strided: 8))
        let times = (0..<8000).map { 1_790_000_000_000 + Int64($0) }
        let drawn = times.map { partitions(1, of: layout, at: $0)[0] }
        let changes = zip(drawn, drawn.dropFirst()).count { $0 != $1 }
        #expect(changes < 1001)
        for partition in 0..<8 { #expect((900...1100).contains(drawn.count { $0 == partition })) }
    }

    @Test func `with one partition the first id is taken, and where none falls into the range the last`() throws {
        var count = 0
        func same() -> [UInt8] {
            count += 1
            return Array("tea".utf8)
        }
        _ = DrawRange(.single, siphash: siphash, at: 0).id(same)
        #expect(count == 1)
        let layout = try #require(PartitionLayout(strided: 64))
        for time in 0..<64 as Range<Int64> {
            #expect(DrawRange(layout, siphash: siphash, at: time).id(same) == Array("tea".utf8))
        }
        #expect(count > 100 && count < 64 * 128 + 2)
    }
}
