import Testing
import TimerLog

struct PartitionLayoutTests {
    @Test func `a single partition has every timer and every position`() {
        let layout = PartitionLayout.single
        #expect(layout.partition(ofHash: .max) == 0)
        #expect(layout.partition(ofPosition: 12345) == 0)
        #expect(layout.position(atOrAfter: 12345, in: 0) == 12345)
    }

    @Test(arguments: [0, 3, 12, 2048, -4]) func `a number of partitions is a power of two up to 1024`(count: Int) {
        #expect(PartitionLayout(strided: count) == nil)
    }

    @Test func `the top bits of a hash number its partition`() throws {
        let layout = try #require(PartitionLayout(strided: 4))
        #expect([0, 1 << 62, 2 << 62, .max].map { layout.partition(ofHash: $0) } == [0, 1, 2, 3])
        let many = try #require(PartitionLayout(strided: 1024))
        #expect(many.partition(ofHash: .max) == 1023)
        #expect(many.partition(ofHash: 1 << 54) == 1)
        let one = try #require(PartitionLayout(strided: 1))
        #expect(one.partition(ofHash: .max) == 0)
    }

    @Test func `the next position of a partition is the first at or after the one asked for`() throws {
        let layout = try #require(PartitionLayout(strided: 4))
        for (asked, number, found) in [
            (0, 0, 0), (1, 0, 1024), (1, 1, 1), (2, 1, 1025), (1024, 3, 1027), (1027, 3, 1027), (1028, 3, 2051),
        ] as [(Int64, Int, Int64)] {
            #expect(layout.position(atOrAfter: asked, in: number) == found)
            #expect(layout.partition(ofPosition: found) == number)
        }
        #expect(layout.position(atOrAfter: .max, in: 2) == Int64.max - 1023 + 2)
    }

    @Test func `a partition's positions before and after another one`() throws {
        let layout = try #require(PartitionLayout(strided: 4))
        for (asked, number, before, after) in [
            (1024, 0, 1024, 2048), (1025, 0, 1024, 2048), (1024, 1, 1, 1025), (1030, 3, 1027, 2051), (1, 3, -1021, 3),
        ] as [(Int64, Int, Int64, Int64)] {
            #expect(layout.position(atOrBefore: asked, in: number) == before)
            #expect(layout.position(after: asked, in: number) == after)
        }
        #expect(PartitionLayout.single.position(atOrBefore: 7, in: 0) == 7)
        #expect(PartitionLayout.single.position(after: 7, in: 0) == 8)
    }
}
