import Primitives

/// A rule for all years as POSIX writes it in `TZ`, with the extensions of RFC 9636: hours may be -167 to 167.
/// `CET-1CEST,M3.5.0,M10.5.0/3` is one.
struct PosixZone: Equatable {
    /// The offset of standard time from UTC in seconds, positive east of Greenwich (POSIX writes it the other way).
    let standard: Int32
    /// Daylight saving time, if there is any.
    let daylight: Daylight?

    struct Daylight: Equatable {
        let offset: Int32
        let start: YearPoint
        let end: YearPoint
    }

    /// A time that comes every year.
    struct YearPoint: Equatable {
        var day: DayRule
        /// The seconds since the day's midnight, in the local time before the change.
        var time: Int64 = 7200
    }

    enum DayRule: Equatable {
        /// `Jn`: the day of the year from 1, never counting 29 February.
        case julian(Int64)
        /// `n`: the day of the year from 0, counting 29 February.
        case ordinal(Int64)
        /// `Mm.w.d`: the weekday `d` (0 is Sunday) of the month's week `w`; 5 is the last.
        case weekday(Int, week: Int, month: Int)

        /// Returns the day in a year, counted from 1970-01-01.
        func day(in year: Int64) -> Int64 {
            let january = CivilMonth(year: year, month: 1).firstDay
            switch self {
            case .julian(let day): return january + day - 1 + (CivilDate.isLeap(year) && day >= 60 ? 1 : 0)
            case .ordinal(let day): return january + day
            case .weekday(let weekday, let week, let number):
                let month = CivilMonth(year: year, month: number)
                var day = 1 + (weekday - month.firstWeekday + 7) % 7 + (week - 1) * 7
                if day > month.length { day -= 7 }
                return month.firstDay + Int64(day) - 1
            }
        }
    }

    /// Returns the changes of offset in the rules of `years`, ascending; none without daylight saving time.
    func changes(years: ClosedRange<Int64>) -> [(instant: Int64, offset: Int32)] {
        guard let daylight else { return [] }
        var all: [(instant: Int64, offset: Int32)] = []
        for year in years {
            let start = daylight.start.day.day(in: year) * CronExpression.day + daylight.start.time
            let end = daylight.end.day.day(in: year) * CronExpression.day + daylight.end.time
            // The end comes first at the same instant: daylight saving time that begins as it ends holds all year.
            all.append((end - Int64(daylight.offset), standard))
            all.append((start - Int64(standard), daylight.offset))
        }
        // The language does not promise a stable sort, so the year's order is part of the key.
        let order = all.indices.sorted { (all[$0].instant, $0) < (all[$1].instant, $1) }
        var changes: [(instant: Int64, offset: Int32)] = []
        for index in order {
            if changes.last?.instant == all[index].instant { changes.removeLast() }
            if changes.last?.offset != all[index].offset { changes.append(all[index]) }
        }
        return changes
    }
}
