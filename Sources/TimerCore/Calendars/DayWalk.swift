/// A walk day by day over the closed time of opening hours, by the local clock of a zone.
struct DayWalk {
    let hours: OpenHours
    let zone: TimeZoneTable

    /// A time longer than the difference of two offsets.
    static var slack: Int64 { 3 * Schedule.day }

    /// Returns the instants that are closed together with those of the same local time on all days up to `instant`: before it
    /// if instants move to later days, else after it.
    ///
    /// - Parameters:
    ///   - direction: 1 where instants move to later days, -1 to earlier ones.
    ///   - times: the local times of day that are looked at, as those of ``reachable(at:_:)``; nil for all.
    func unbroken(at instant: Int64, _ direction: Int64, from times: [Range<Int64>]? = nil) -> InstantRanges {
        var found: [Range<Int64>] = []
        walk(at: instant, -direction, from: times) { region in
            let range = zone.firstInstant(atLocal: region.lowerBound)..<zone.firstInstant(atLocal: region.upperBound)
            if !range.isEmpty { found.append(range) }
        }
        return InstantRanges(found)
    }

    /// Returns the local times, as those of the day that ends or begins at `instant`, that are open on a day to which an
    /// instant may move over it.
    func reachable(at instant: Int64, _ direction: Int64) -> [Range<Int64>] {
        let closed = walk(at: instant, direction)
        let day = day(at: instant, -direction)
        return InstantRanges(day).subtracting(InstantRanges(closed)).ranges
    }

    /// Returns the local times of the day that ends (-1) or begins (1) after `instant`.
    private func day(at instant: Int64, _ direction: Int64) -> Range<Int64> {
        let start = zone.latestLocal(at: instant) + 1
        return direction < 0 ? start - Schedule.day..<start : start..<start + Schedule.day
    }

    /// Goes from `instant` on, day by day, as long as a local time is closed on all of the days so far.
    ///
    /// - Parameters:
    ///   - direction: 1 for later days, -1 for earlier ones.
    ///   - times: the local times that are looked at, as those of the first day; nil for all.
    ///   - body: called with each range of local time that is still closed.
    /// - Returns: those of the last day, as those of the day on the other side of `instant`.
    @discardableResult
    private func walk(
        at instant: Int64, _ direction: Int64, from times: [Range<Int64>]? = nil,
        _ body: ((Range<Int64>) -> Void)? = nil
    ) -> [Range<Int64>] {
        var closed = ClosedTimes(times ?? [day(at: instant, direction)], by: self)
        for day in 0..<ClosedPolicy.dayLimit {
            if closed.ranges.isEmpty { break }
            let shift = direction * day * Schedule.day
            closed.narrow(by: shift)
            if let body { for range in closed.ranges { body(range.shifted(by: shift)) } }
        }
        return closed.ranges.map { $0.shifted(by: -direction * Schedule.day) }
    }
}

/// Local times that are closed on one day after another, as those of one of the days.
struct ClosedTimes {
    /// The local times, ascending.
    private(set) var ranges: [Range<Int64>]
    private let walk: DayWalk
    private let isByOwnClocks: Bool
    /// The usual days, one after another, on which nothing opened.
    private var quietDays = 0

    init(_ ranges: [Range<Int64>], by walk: DayWalk) {
        self.ranges = ranges
        self.walk = walk
        isByOwnClocks = walk.zone == walk.hours.zone
    }

    /// Takes out the times that are open on the day so many milliseconds away. The days are to follow one another.
    mutating func narrow(by shift: Int64) {
        guard let start = ranges.first?.lowerBound, let end = ranges.last?.upperBound else { return }
        // After a usual week in which nothing opened, only a date can open something, and a change of clocks where these are not
        // the calendar's own.
        let isUsual =
            isByOwnClocks && end - start <= Schedule.day && walk.hours.isUsual(from: start + shift)
        if isUsual, quietDays >= 7 { return }
        let before = ranges
        ranges = ranges.flatMap { walk.hours.closedParts(of: $0.shifted(by: shift), in: walk.zone) }
            .map { $0.shifted(by: -shift) }
        quietDays = isUsual && ranges == before ? quietDays + 1 : 0
    }

    /// Takes out the times from a bound on.
    mutating func clip(below bound: Int64) {
        ranges = ranges.compactMap { $0.lowerBound < bound ? $0.lowerBound..<min(bound, $0.upperBound) : nil }
    }
}
