import TestSupport
import Testing

@testable import TimerCore

struct InstantRangesTests {
    /// Returns random ranges within 0 ..< 64, which may meet, overlap and be empty, and the instants in them.
    private static func random(_ random: inout SeededGenerator) -> (ranges: InstantRanges, instants: Set<Int64>) {
        let ranges = (0..<random.number(0...8)).map { _ in
            let start = random.number(0...60)
            return start..<start + random.number(0...(63 - start)) / 2
        }
        return (InstantRanges(ranges), Set(ranges.joined()))
    }

    private static func instants(_ ranges: InstantRanges) -> Set<Int64> {
        Set(ranges.ranges.flatMap { $0.clamped(to: 0..<64) })
    }

    @Test(arguments: 0..<200)
    func `they are as sets of instants are`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let (first, second) = (Self.random(&random), Self.random(&random))
        let pairs = [
            (first.ranges, first.instants),
            (first.ranges.union(second.ranges), first.instants.union(second.instants)),
            (first.ranges.intersection(second.ranges), first.instants.intersection(second.instants)),
            (first.ranges.subtracting(second.ranges), first.instants.subtracting(second.instants)),
            (first.ranges.complement, Set(0..<64).subtracting(first.instants)),
        ]
        for (ranges, instants) in pairs {
            #expect(Self.instants(ranges) == instants)
            let (starts, ends) = (ranges.ranges.dropFirst().map(\.lowerBound), ranges.ranges.map(\.upperBound))
            #expect(zip(ends, starts).allSatisfy(<))
            #expect(ranges.complement.complement == ranges)
        }
    }

    @Test func `all time has no other instants`() {
        let all = InstantRanges([]).complement
        #expect(all.ranges == [.min ..< .max])
        #expect(all.complement.ranges.isEmpty)
    }
}
