import Primitives

/// The nominal instants of a timer's schedule that are spent: they came, and mostly fired, by opening hours that have
/// changed since. The present hours move them to other instants, at which they do not fire again.
///
/// Spent instants are kept with the definition, and only for a timer that needs them: see ``SpendingChange``.
public struct SpentInstants: Sendable, Equatable {
    /// Wall milliseconds, ascending: an instant before the first is spent, one from the first to the second is not, and so on
    /// in turns. The number of them is odd, so that no instant from the last on is spent; or there are none, and nothing is
    /// spent.
    public private(set) var bounds: [Int64] = []

    /// The most bounds.
    public static let limit = 129
    /// The instants that bounds may be.
    private static let range = -lastInstant...lastInstant

    /// Makes the spent instants of a schedule that has none.
    public init() {}

    /// Makes spent instants; nil for bounds that are not as ``bounds`` says.
    public init?(bounds: [Int64]) {
        guard bounds.isEmpty || bounds.count % 2 == 1, bounds.count <= Self.limit,
            zip(bounds, bounds.dropFirst()).allSatisfy(<),
            bounds.allSatisfy(Self.range.contains)
        else { return nil }
        self.bounds = bounds
    }

    /// Whether nothing is spent.
    public var isEmpty: Bool { bounds.isEmpty }

    /// The instants that are not spent, in ascending ranges, the last of which has no end.
    var unspent: InstantRanges {
        if isEmpty { return InstantRanges(.min ..< .max) }
        return InstantRanges(stride(from: 0, to: bounds.count, by: 2).map { unspent($0) })
    }

    /// - Parameter unspent: the instants that are not spent, up to the end of time, in at most as many ranges as ``limit`` has
    ///   room for.
    init(unspent: InstantRanges) {
        // Instants after the year 9999 are never due, so that a range that goes on beyond it has no end.
        let shown = unspent.intersection(InstantRanges(Self.range.lowerBound..<Self.range.upperBound))
        bounds = shown.ranges.flatMap { [$0.lowerBound, $0.upperBound] }.dropLast()
    }

    /// Returns the range that begins at a bound of even index.
    private func unspent(_ index: Int) -> Range<Int64> {
        bounds[index]..<(index + 1 < bounds.count ? bounds[index + 1] : .max)
    }

    /// Returns the first instant of a schedule after `instant` that is not spent; nil when none follows.
    func next(after instant: Int64, _ next: (Int64) -> Int64?) -> Int64? {
        if isEmpty { return next(instant) }
        var place = instant
        for index in stride(from: 0, to: bounds.count, by: 2) {
            let range = unspent(index)
            guard range.upperBound - 1 > place else { continue }
            guard let found = next(max(place, range.lowerBound - 1)) else { return nil }
            if found < range.upperBound { return found }
            place = found - 1
        }
        return nil
    }

    /// Returns the last instant of a schedule at or before `end` of those after `start` that are not spent, and how many there
    /// are; nil when there is none.
    func latest(
        after start: Int64, through end: Int64, _ latest: (Int64, Int64) -> (instant: Int64, count: Int64)?
    ) -> (instant: Int64, count: Int64)? {
        if isEmpty { return latest(start, end) }
        var found: (instant: Int64, count: Int64)?
        for index in stride(from: 0, to: bounds.count, by: 2) {
            let range = unspent(index)
            let (after, last) = (max(start, range.lowerBound - 1), min(end, range.upperBound - 1))
            guard after < last, let further = latest(after, last) else { continue }
            found = (further.instant, (found?.count ?? 0) + further.count)
        }
        return found
    }
}

extension SpentInstants {
    /// Appends the bounds as one run of instants.
    func append(to bytes: inout [UInt8]) { ByteCoding.append(instants: bounds, to: &bytes) }

    /// Reads what `append` wrote and moves `offset` past it; nil for anything else.
    init?(_ bytes: Span<UInt8>, _ offset: inout Int) {
        guard let run = ByteCoding.readRun(bytes, &offset),
            let bounds = ByteCoding.instants(run.span, atMost: Self.limit)
        else { return nil }
        self.init(bounds: bounds)
    }
}
