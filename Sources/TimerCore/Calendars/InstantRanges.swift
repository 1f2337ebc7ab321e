/// Instants, as ranges of wall milliseconds.
///
/// The standard library's `RangeSet` is for few ranges: it takes ranges out one by one, and a change of opening hours has a
/// thousand.
struct InstantRanges: Sendable, Equatable {
    /// The ranges, ascending; no two meet.
    private(set) var ranges: [Range<Int64>] = []

    /// - Parameter ranges: in any order; they may meet and overlap.
    init(_ ranges: some Sequence<Range<Int64>>) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            guard let last = self.ranges.last, last.upperBound >= range.lowerBound else {
                self.ranges.append(range)
                continue
            }
            self.ranges[self.ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        }
    }

    init(_ range: Range<Int64>) { self.init(CollectionOfOne(range)) }

    private init(ascending ranges: [Range<Int64>]) { self.ranges = ranges }

    /// All other instants.
    var complement: InstantRanges {
        let starts = [.min] + ranges.map(\.upperBound)
        let ends = ranges.map(\.lowerBound) + [.max]
        return InstantRanges(ascending: zip(starts, ends).map { $0..<$1 }.filter { !$0.isEmpty })
    }

    /// Returns the instants that are in both.
    func intersection(_ other: InstantRanges) -> InstantRanges {
        var found: [Range<Int64>] = []
        var (left, right) = (0, 0)
        while left < ranges.count, right < other.ranges.count {
            let (mine, theirs) = (ranges[left], other.ranges[right])
            if mine.overlaps(theirs) { found.append(mine.clamped(to: theirs)) }
            if mine.upperBound < theirs.upperBound { left += 1 } else { right += 1 }
        }
        return InstantRanges(ascending: found)
    }

    /// Returns the instants that are in one of them or in both.
    func union(_ other: InstantRanges) -> InstantRanges { InstantRanges(ranges + other.ranges) }

    /// Returns the instants that are not in `other`.
    func subtracting(_ other: InstantRanges) -> InstantRanges { intersection(other.complement) }
}
