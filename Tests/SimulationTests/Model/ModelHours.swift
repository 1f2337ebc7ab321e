@testable import TimerCore

/// The opening hours of a calendar of the model: the same intervals on each day of UTC, counted the plain way.
struct ModelHours: Equatable {
    /// The open seconds of a day, ascending and apart; at least one.
    let intervals: [Range<Int64>]

    private static let day: Int64 = 86_400_000

    /// The open milliseconds of a day.
    private var openTime: Int64 { intervals.reduce(0) { $0 + $1.milliseconds.count64 } }

    /// Returns the open milliseconds before an instant since 1970.
    private func openTime(before instant: Int64) -> Int64 {
        let days = floorDivide(instant, Self.day)
        let rest = instant - days * Self.day
        return intervals.reduce(days * openTime) {
            $0 + max(0, min(rest, $1.milliseconds.upperBound) - $1.milliseconds.lowerBound)
        }
    }

    /// Whether it is open at an instant.
    func isOpen(at instant: Int64) -> Bool { openTime(before: instant + 1) > openTime(before: instant) }

    /// Returns the open milliseconds between two instants.
    func elapsed(from start: Int64, to end: Int64) -> Int64 { openTime(before: end) - openTime(before: start) }

    /// Returns the first instant at which that much open time has elapsed since `start`; nil after the year 9999.
    func due(after duration: Int64, from start: Int64) -> Int64? {
        if duration <= 0 { return start }
        let target = openTime(before: start) + duration
        let days = floorDivide(target - 1, openTime)
        var rest = target - days * openTime
        for interval in intervals {
            if rest <= interval.milliseconds.count64 {
                let due = days * Self.day + interval.milliseconds.lowerBound + rest
                return due <= lastInstant ? due : nil
            }
            rest -= interval.milliseconds.count64
        }
        preconditionFailure("a day has as much open time as all of its intervals")
    }

    /// Returns the first open instant that is not before `instant`.
    func opening(atOrAfter instant: Int64) -> Int64 {
        let days = floorDivide(instant, Self.day)
        let openings = (days...days + 1).flatMap { day in
            intervals.map { max(instant, day * Self.day + $0.milliseconds.lowerBound) }
        }
        return openings.first { isOpen(at: $0) } ?? instant
    }

    /// The content of a calendar with these hours.
    var content: CalendarContent {
        func time(_ second: Int64) -> String {
            [second / 3600, second / 60 % 60, second % 60].map { ($0 < 10 ? "0" : "") + String($0) }.joined(
                separator: ":")
        }
        let texts = intervals.map { Array("\(time($0.lowerBound))-\(time($0.upperBound))".utf8) }
        do throws(CalendarError) {
            let week = [(key: Array("mon-sun".utf8), intervals: texts)]
            return CalendarContent(
                try CalendarDefinition(zone: Array("UTC".utf8), week: week, dates: []), week: [], dates: [])
        } catch { preconditionFailure("the intervals make a calendar: \(error)") }
    }
}

extension Range<Int64> {
    /// The seconds of the range as milliseconds.
    fileprivate var milliseconds: Range<Int64> { lowerBound * 1000..<upperBound * 1000 }

    fileprivate var count64: Int64 { upperBound - lowerBound }
}
