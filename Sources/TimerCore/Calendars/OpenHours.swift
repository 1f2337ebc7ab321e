import Primitives

/// The opening hours of a calendar on the wall clock: instants to open time and back, however far apart they are.
///
/// Instants and open time are whole milliseconds; instants count from 1970 in UTC, and those outside of the years that
/// can be shown (and as many before 1970) count as the nearest of these. Open is [from, until) of an interval. Both
/// ends follow the local clock: a local time that a gap leaves out is the end of the gap, and one that comes twice is
/// the first. So an end is the first instant at which the clock has come so far, ends keep their order, and an interval
/// within a gap vanishes.
///
/// A question costs binary searches in the zone's transitions, in the dates, and in the days of a week. An object has
/// the tables of its dates, and some bytes for each transition of the zone that opening hours meet: mostly none.
public final class OpenHours: Sendable {
    /// The calendar's zone.
    let zone: TimeZoneTable
    private let local: LocalHours
    /// The transitions of the zone that add or take away open time, up to the one from which the zone repeats itself:
    /// of weeks without dates.
    private let regular: [Correction]
    /// The same for what a date changes about that of a transition.
    private let single: [Correction]
    /// The corrections of the 400 years after which the zone repeats itself.
    private let cycleSeconds: Int64

    /// The open seconds by which elapsed time differs from the local clock's, from a transition on.
    private struct Correction: Sendable {
        /// The instant of the transition, in seconds.
        var instant: Int64
        /// The sum over all transitions up to this one.
        var sum: Int64
    }

    /// The seconds that are searched.
    static let seconds: Range<Int64> = -(lastInstant + 1) / 1000..<(lastInstant + 1) / 1000

    /// - Parameters:
    ///   - definition: the opening hours.
    ///   - zone: the table of the zone that the definition names.
    public init(_ definition: CalendarDefinition, in zone: TimeZoneTable) {
        self.zone = zone
        local = LocalHours(week: definition.week, dates: definition.dates)
        let week = LocalHours(week: definition.week)
        regular = Self.corrections(of: week, in: zone)
        let start = zone.cycleStart ?? .max
        let before = regular.countPrefix { $0.instant < start }
        cycleSeconds = (regular.last?.sum ?? 0) - (before > 0 ? regular[before - 1].sum : 0)
        single = Self.corrections(of: local, unlike: week, near: definition.dates, in: zone)
    }

    private static func corrections(of hours: LocalHours, in zone: TimeZoneTable) -> [Correction] {
        let end = zone.cycleStart.map { $0 + TimeZoneTable.cycle } ?? .max
        var found: [Correction] = []
        var sum: Int64 = 0
        var segment = zone.segment(at: .min)
        while segment.end < end {
            segment = zone.segment(at: segment.end)
            let correction = segment.correction(of: hours)
            sum += correction
            if correction != 0 { found.append(Correction(instant: segment.start, sum: sum)) }
        }
        return found
    }

    private static func corrections(
        of hours: LocalHours, unlike week: LocalHours, near dates: [CalendarDefinition.Date], in zone: TimeZoneTable
    ) -> [Correction] {
        let day = CronExpression.day
        var found: [Correction] = []
        var sum: Int64 = 0
        var seen = Int64.min
        for date in dates {
            // A date changes two local days, and a transition leaves out or repeats local time up to two days from it.
            var segment = zone.segment(at: max((date.day - 4) * day, seen))
            while segment.end < (date.day + 6) * day {
                segment = zone.segment(at: segment.end)
                guard segment.start > seen else { continue }
                seen = segment.start
                let difference = segment.correction(of: hours) - segment.correction(of: week)
                sum += difference
                if difference != 0 { found.append(Correction(instant: segment.start, sum: sum)) }
            }
        }
        return found
    }

    /// Whether it is open at an instant.
    public func isOpen(at instant: Int64) -> Bool {
        let second = floorDivide(Self.clamp(instant), 1000)
        let segment = zone.segment(at: second)
        return local.isOpen(at: segment.latestLocal(at: second))
    }

    /// Whether the 24 hours from a local time on, in milliseconds, are like those of any other week.
    func isUsual(from local: Int64) -> Bool { self.local.isUsual(from: floorDivide(local, 1000)) }

    /// Returns the open time from one instant to another, which is not before it.
    public func elapsed(from start: Int64, to end: Int64) -> Int64 { openTime(before: end) - openTime(before: start) }

    /// Returns the first instant, not before `start`, at which that much open time, 0 or more, has elapsed since `start`; nil
    /// if that is after the year 9999. Open time that is used up at a closing is due there, and none at all at `start`.
    public func due(after openTime: Int64, from start: Int64) -> Int64? {
        guard openTime > 0 else { return start }
        let (target, isOver) = self.openTime(before: start).addingReportingOverflow(openTime)
        guard !isOver else { return nil }
        // The last millisecond lies in the open second `count`.
        let count = floorDivide(target - 1, 1000) + 1
        guard let second = second(after: count, from: floorDivide(Self.clamp(start), 1000)) else { return nil }
        let due = second * 1000 - (count * 1000 - target)
        return due <= lastInstant ? due : nil
    }

    /// Returns the instant at which that much open time has elapsed since `start`: where that is after the year 9999, as far
    /// beyond it as open time is left then, so that other opening hours can count the rest: see ``left(until:from:)``.
    func end(of openTime: Int64, from start: Int64) -> Int64 {
        let end = lastInstant + 1
        return due(after: openTime, from: start) ?? end + openTime - elapsed(from: start, to: end)
    }

    /// Returns the open time from `start` until an instant that ``end(of:from:)`` returned.
    func left(until due: Int64, from start: Int64) -> Int64 {
        elapsed(from: start, to: due) + (due > lastInstant ? due - (lastInstant + 1) : 0)
    }

    /// Returns the first instant at or after `instant` at which it is open; nil if that is after the year 9999.
    public func nextOpening(atOrAfter instant: Int64) -> Int64? {
        guard instant <= lastInstant else { return nil }
        if isOpen(at: instant) { return instant }
        let second = floorDivide(Self.clamp(instant), 1000)
        let open = self.second(after: openSeconds(before: second) + 1, from: second)
        return open.map { ($0 - 1) * 1000 }
    }

    /// Returns the instant at which the closed time began that holds `instant`.
    func closing(before instant: Int64) -> Int64 {
        let count = openSeconds(before: floorDivide(Self.clamp(instant), 1000))
        guard openSeconds(before: Self.seconds.lowerBound) < count else { return Self.seconds.lowerBound * 1000 }
        return (second(after: count, from: Self.seconds.lowerBound) ?? Self.seconds.lowerBound) * 1000
    }

    /// Returns the first instant after `instant`, an open one, at which it is closed, or `limit` if that comes before.
    func closing(after instant: Int64, limit: Int64) -> Int64 {
        let start = floorDivide(instant, 1000)
        let count = openSeconds(before: start)
        func isOpen(until second: Int64) -> Bool { openSeconds(before: second) - count == second - start }
        let end = min(-floorDivide(-limit, 1000), Self.seconds.upperBound)
        var low = start + 1
        var high = low
        var step: Int64 = 3600
        while low == high && low < end {
            high = min(low + step, end)
            if isOpen(until: high) { low = high }
            step *= 2
        }
        while high - low > 1 {
            let middle = (low + high) / 2
            if isOpen(until: middle) { low = middle } else { high = middle }
        }
        return min(low * 1000, limit)
    }

    /// Returns the open time before an instant since one in 1970, negative before that.
    private func openTime(before instant: Int64) -> Int64 {
        let instant = Self.clamp(instant)
        let second = floorDivide(instant, 1000)
        let count = openSeconds(before: second)
        let rest = instant - second * 1000
        return count * 1000 + (rest > 0 ? (openSeconds(before: second + 1) - count) * rest : 0)
    }

    private func openSeconds(before second: Int64) -> Int64 {
        let segment = zone.segment(at: second)
        let sum = correction(at: segment.start)
        if second >= segment.repeatedEnd { return local.openSeconds(before: second + segment.offset) + sum }
        let latest = segment.firstNewLocal
        return local.openSeconds(before: latest) + sum
            - (local.isOpen(at: latest - 1) ? segment.repeatedEnd - second : 0)
    }

    /// Returns the sum of the corrections of all transitions up to the one at `instant`.
    private func correction(at instant: Int64) -> Int64 {
        var sum = single.isEmpty ? 0 : Self.sum(of: single, at: instant)
        guard !regular.isEmpty else { return sum }
        var place = instant
        if let start = zone.cycleStart, instant >= start {
            let cycles = (instant - start) / TimeZoneTable.cycle
            sum += cycles * cycleSeconds
            place -= cycles * TimeZoneTable.cycle
        }
        return sum + Self.sum(of: regular, at: place)
    }

    private static func sum(of corrections: [Correction], at instant: Int64) -> Int64 {
        let passed = corrections.countPrefix { $0.instant <= instant }
        return passed > 0 ? corrections[passed - 1].sum : 0
    }

    /// Returns the first second before which there are `count` open ones, the inverse of `openSeconds(before:)`; nil
    /// if there are not so many.
    ///
    /// - Parameter start: a second before which there are fewer.
    private func second(after count: Int64, from start: Int64) -> Int64? {
        guard openSeconds(before: Self.seconds.upperBound) >= count else { return nil }
        var low = start
        var high = Self.seconds.upperBound
        var guess = start
        // The corrections of a segment lead to the right one at once, or to one near it. Should they lead nowhere, as
        // where a zone's transitions are most of the open time, the range is halved.
        for step in 0... {
            let segment = zone.segment(at: guess)
            let sum = correction(at: segment.start)
            let second = local.local(after: count - sum) - segment.offset
            switch place(of: count, in: segment, second, sum) {
            case .at(let second): return second
            case .before: high = min(high, segment.start)
            case .after: low = max(low, segment.end)
            }
            guess = step < Self.guessLimit ? max(low, min(second, high - 1)) : low + (high - low) / 2
        }
        return nil
    }

    /// The guesses before a search halves its range.
    private static let guessLimit = 6

    private enum Place {
        case before, after
        case at(Int64)
    }

    /// Returns where the open second `count` ends, of which the local clock of a segment says that it ends at `second`.
    private func place(of count: Int64, in segment: ZoneSegment, _ second: Int64, _ sum: Int64) -> Place {
        if segment.start > .min {
            let latest = segment.firstNewLocal
            let after = local.openSeconds(before: latest) + sum
            let repeated = segment.repeatedEnd - segment.start
            let before = repeated > 0 && local.isOpen(at: latest - 1) ? after - repeated : after
            if count <= before { return .before }
            if count <= after { return .at(segment.start + (count - before)) }
        }
        return second <= segment.end ? .at(second) : .after
    }

    /// Returns the nearest instant that is searched.
    private static func clamp(_ instant: Int64) -> Int64 {
        max(-lastInstant - 1, min(instant, lastInstant + 1))
    }
}

// Local time that only goes forward: the latest that the clocks have shown.
extension ZoneSegment {
    /// The end of the time at the segment's start in which its clocks repeat local time; the start if they do not.
    fileprivate var repeatedEnd: Int64 { skipped < 0 ? min(start - skipped, end) : start }

    /// Returns the latest local time that has been shown up to an instant of the segment.
    fileprivate func latestLocal(at instant: Int64) -> Int64 {
        instant < repeatedEnd ? firstNewLocal - 1 : instant + offset
    }

    /// Returns the open seconds that the segment's first instant adds to those of the local clock: those that it
    /// repeats, or less those that it leaves out.
    fileprivate func correction(of hours: LocalHours) -> Int64 {
        if skipped < 0 { return hours.isOpen(at: firstNewLocal - 1) ? repeatedEnd - start : 0 }
        let new = firstNewLocal
        return skipped > 0 ? hours.openSeconds(before: new - skipped) - hours.openSeconds(before: new) : 0
    }
}
