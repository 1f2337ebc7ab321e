/// Instants whole days apart by the clocks of a time zone, in wall milliseconds: each has the local time of the first.
///
/// By RFC 5545, 3.3.5, a local time that the clocks leave out is read with the offset before they change, and one
/// that comes twice is the first of the two.
///
/// The grid is an object, so that a `Grid` without one, as most are, is small to copy.
final class LocalGrid: Sendable {
    /// The instant of point 0.
    let start: Int64
    /// The local time of point 0, in milliseconds.
    private let localStart: Int64
    /// Milliseconds between two points, whole days.
    private let period: Int64
    private let zone: TimeZoneTable

    /// - Parameters:
    ///   - start: any instant of the grid.
    ///   - isInGap: whether `start` is the instant of a local time that the clocks leave out.
    init(through start: Int64, isInGap: Bool = false, period: Int64, in zone: TimeZoneTable) {
        self.start = start
        self.period = period
        self.zone = zone
        let second = floorDivide(start, 1000)
        let offset = isInGap ? zone.offset(beforeChangeAt: second) : zone.offset(at: second)
        localStart = start + offset * 1000
    }

    /// Returns the grid of the same period through another instant.
    func through(_ instant: Int64, isInGap: Bool = false) -> LocalGrid {
        LocalGrid(through: instant, isInGap: isInGap, period: period, in: zone)
    }

    /// Returns the instant of a point.
    func instant(of point: Int64) -> Int64 {
        if point == 0 { return start }
        let local = localStart + point * period
        let second = floorDivide(local, 1000)
        return zone.instant(ofLocal: second) * 1000 + (local - second * 1000)
    }

    /// Returns the last point at or before an instant.
    func point(through instant: Int64) -> Int64 {
        let local = instant + zone.offset(at: floorDivide(instant, 1000)) * 1000
        // Two changes of offset (that by which a local time is read, and that of the instant) move a point by less
        // than two days, and a period is at least one.
        var point = floorDivide(local - localStart, period) + 2
        while self.instant(of: point) > instant { point -= 1 }
        return point
    }

    /// Returns the first instant of the grid after `instant`.
    func next(after instant: Int64) -> Int64 { self.instant(of: point(through: instant) + 1) }

    /// Whether an instant is one of the grid's.
    func contains(_ instant: Int64) -> Bool { self.instant(of: point(through: instant)) == instant }

    /// Whether an instant of the grid is that of a local time that the clocks leave out.
    func isInGap(_ instant: Int64) -> Bool {
        let local = localStart + point(through: instant) * period
        return instant + zone.offset(at: floorDivide(instant, 1000)) * 1000 != local
    }
}
