import Primitives

/// The opening hours by the clocks of the calendar's zone, as if these never changed.
///
/// Local times are seconds since 1970-01-01T00:00:00. Each day has the times in which it is open, those included that
/// reach into it from the day before, and the open seconds before it: of days that are like those of any other week
/// within the week, of the rest in a table. So no question depends on how far apart two local times are.
struct LocalHours: Sendable {
    /// A run of open time within a day, in seconds of the day.
    private struct Run: Sendable {
        var start: Int64
        var end: Int64
    }

    private struct Day: Sendable {
        /// The weekday (0 is Sunday), or the day counted from 1970-01-01.
        var number: Int64
        /// The places of its runs.
        var runs: Range<Int>
        var openSeconds: Int64
        /// The open seconds before the day: of a weekday since the week's Sunday, of a single day those of all single
        /// days before it, less those that their weekdays have.
        var before: Int64
    }

    private var runs: [Run] = []
    private var weekdays: [Day] = []
    /// The days that are unlike their weekdays: dates, and the days after them.
    private var singles: [Day] = []
    /// The open seconds of a week.
    private var weekSeconds: Int64 = 0
    /// The open seconds of all single days, less those that their weekdays have.
    private var singleSeconds: Int64 = 0

    /// - Parameters:
    ///   - week: the intervals of each weekday, Sunday's first; not all empty.
    ///   - dates: the dates whose intervals replace those of their weekdays, ascending.
    init(week: [[CalendarDefinition.Interval]], dates: [CalendarDefinition.Date] = []) {
        for weekday in 0..<7 {
            let day = day(Int64(weekday), week[weekday], after: week[(weekday + 6) % 7], before: weekSeconds)
            weekdays.append(day)
            weekSeconds += day.openSeconds
        }
        let affected = dates.flatMap { [$0.day, $0.day + 1] }
        var next = 0
        for number in affected where singles.last.map({ $0.number < number }) ?? true {
            while next < dates.count && dates[next].day < number { next += 1 }
            let weekday = CivilMonth.weekday(of: number)
            let own = next < dates.count && dates[next].day == number ? dates[next].intervals : week[weekday]
            let isAfterDate = next > 0 && dates[next - 1].day == number - 1
            let before = isAfterDate ? dates[next - 1].intervals : week[(weekday + 6) % 7]
            let day = day(number, own, after: before, before: singleSeconds)
            singles.append(day)
            singleSeconds += day.openSeconds - weekdays[weekday].openSeconds
        }
    }

    /// Makes a day of its own intervals and those of the day before; their runs are joined where they meet or overlap.
    private mutating func day(
        _ number: Int64, _ own: [CalendarDefinition.Interval], after previous: [CalendarDefinition.Interval],
        before: Int64
    ) -> Day {
        let day = CronExpression.day
        let first = runs.count
        var openSeconds: Int64 = 0
        let reaching = previous.last.map { $0.end - day } ?? 0
        if reaching > 0 { runs.append(Run(start: 0, end: min(reaching, day))) }
        for interval in own {
            let run = Run(start: interval.start, end: min(interval.end, day))
            if runs.count > first, let last = runs.last, run.start <= last.end {
                runs[runs.count - 1].end = max(last.end, run.end)
            } else {
                runs.append(run)
            }
        }
        for run in runs[first...] { openSeconds += run.end - run.start }
        return Day(number: number, runs: first..<runs.count, openSeconds: openSeconds, before: before)
    }

    /// Whether a local time is in the opening hours.
    func isOpen(at local: Int64) -> Bool {
        let number = floorDivide(local, CronExpression.day)
        let time = local - number * CronExpression.day
        for place in day(number).day.runs where time < runs[place].end { return time >= runs[place].start }
        return false
    }

    /// Whether the 24 hours from a local time on are like those of any other week.
    func isUsual(from local: Int64) -> Bool {
        let number = floorDivide(local, CronExpression.day)
        let next = singles.countPrefix { $0.number < number }
        return next == singles.count || singles[next].number > number + 1
    }

    /// Returns the open seconds before a local time since one in 1970, negative before that.
    func openSeconds(before local: Int64) -> Int64 {
        let number = floorDivide(local, CronExpression.day)
        let time = local - number * CronExpression.day
        let (day, before) = day(number)
        var count = before
        for place in day.runs where time > runs[place].start { count += min(time, runs[place].end) - runs[place].start }
        return count
    }

    /// Returns the first local time before which there are so many open seconds, the inverse of
    /// ``openSeconds(before:)``: the end of an open second.
    func local(after openSeconds: Int64) -> Int64 {
        let single = singles.countPrefix { start(of: $0) < openSeconds } - 1
        var rest = openSeconds
        if single >= 0 {
            let day = singles[single]
            rest -= start(of: day)
            if rest <= day.openSeconds { return day.number * CronExpression.day + time(after: rest, in: day) }
            rest = openSeconds - day.before - day.openSeconds + weekdays[CivilMonth.weekday(of: day.number)].openSeconds
        }
        let week = floorDivide(rest - 1, weekSeconds)
        rest -= week * weekSeconds
        let day = weekdays[weekdays.countPrefix { $0.before < rest } - 1]
        let number = week * 7 - Self.thursday + day.number
        return number * CronExpression.day + time(after: rest - day.before, in: day)
    }

    /// The weekday of 1970-01-01; 0 is Sunday.
    private static let thursday: Int64 = 4

    /// Returns the time of the day at which that many of its seconds, at least one, have been open.
    private func time(after openSeconds: Int64, in day: Day) -> Int64 {
        var rest = openSeconds
        for place in day.runs {
            let run = runs[place]
            if rest <= run.end - run.start { return run.start + rest }
            rest -= run.end - run.start
        }
        return CronExpression.day
    }

    /// Returns a day with the open seconds before it since one in 1970.
    private func day(_ number: Int64) -> (day: Day, before: Int64) {
        let passed = singles.countPrefix { $0.number <= number }
        if passed > 0, singles[passed - 1].number == number {
            return (singles[passed - 1], start(of: singles[passed - 1]))
        }
        let singleBefore = passed < singles.count ? singles[passed].before : singleSeconds
        return (weekdays[CivilMonth.weekday(of: number)], regular(before: number) + singleBefore)
    }

    private func start(of single: Day) -> Int64 { regular(before: single.number) + single.before }

    /// Returns the open seconds before a day as if every week were the same.
    private func regular(before number: Int64) -> Int64 {
        let shifted = number + Self.thursday
        let week = floorDivide(shifted, 7)
        return week * weekSeconds + weekdays[Int(shifted - week * 7)].before
    }
}
