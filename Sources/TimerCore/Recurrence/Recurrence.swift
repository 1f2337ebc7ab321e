import Primitives

/// A recurrence rule that repeats itself from a local time, which gives what the rule leaves open.
///
/// Local times are seconds since 1970-01-01T00:00:00 by the clocks of some place. Periods are reached by arithmetic,
/// so that a search costs the same however far it is from the start.
struct Recurrence {
    /// The rule with nothing left open.
    let rule: RecurrenceRule
    /// The first local time that may be due.
    let start: Int64
    /// The last local time that may be due.
    let limit: Int64
    let times: SelectedTimes
    /// The positions in a period; none in a daily rule, where they select from the times of day.
    private let positions: Positions

    /// The pieces in which the calendar is searched. Those of a filtered daily rule are months.
    private enum Unit { case day, week, month, year }
    private let unit: Unit
    private let startDay: Int64
    /// The first day of the week of the start.
    private let startWeek: Int64
    /// The unit of the start, and the number of units from one that counts to the next.
    private let first: Int64
    private let step: Int64

    /// - Parameters:
    ///   - start: the local time of DTSTART.
    ///   - limit: the last local time that is of interest.
    init(_ rule: RecurrenceRule, start: Int64, limit: Int64) {
        startDay = floorDivide(start, CronExpression.day)
        self.rule = rule.filled(from: start, day: startDay)
        self.start = start
        if case .local(let end) = rule.end { self.limit = min(limit, end) } else { self.limit = limit }
        times = SelectedTimes(self.rule.times, selected: rule.selectedTimes)
        positions = rule.frequency == .daily ? Positions() : rule.positions
        startWeek = startDay - Int64((CivilMonth.weekday(of: startDay) - rule.weekStart + 7) % 7)
        let isFiltered = rule.months != 0 || !rule.monthDays.isEmpty || rule.weekdays != 0
        unit =
            switch rule.frequency {
            case .daily: isFiltered ? .month : .day
            case .weekly: .week
            case .monthly: .month
            case .yearly: .year
            }
        step = rule.frequency == .daily && isFiltered ? 1 : rule.interval
        first = Self.index(of: unit, holding: startDay, startWeek: startWeek)
    }

    /// Returns the first time that is not before `local`; nil when there is none.
    ///
    /// The search ends when as many units were empty as there are until the calendar repeats itself: 400 years, 4,800
    /// months, 20,871 weeks.
    func first(notBefore local: Int64) -> Int64? {
        local <= limit ? first(in: local..<limit + 1) : nil
    }

    /// Returns the first time in `range`; nil when there is none. The search ends with the range, too.
    func first(in range: Range<Int64>) -> Int64? {
        let low = max(range.lowerBound, start)
        let limit = min(limit, range.upperBound - 1)
        guard low <= limit, times.count > 0 else { return nil }
        let last = index(holding: floorDivide(limit, CronExpression.day))
        var index = index(notBefore: index(holding: floorDivide(low, CronExpression.day)))
        var left = unitsInCycle
        while index <= last, left >= 0 {
            let days = days(of: index)
            if !days.isEmpty, let found = period(days).first(notBefore: low) { return found <= limit ? found : nil }
            index = self.index(after: index)
            left -= 1
        }
        return nil
    }

    /// Returns the number of times in `range`. Units that are all alike are multiplied; else the cost is that of the
    /// units in the range.
    func count(in range: Range<Int64>) -> Int64 {
        let range = range.clamped(to: start..<max(start, limit + 1))
        guard !range.isEmpty else { return 0 }
        let last = index(holding: floorDivide(range.upperBound - 1, CronExpression.day))
        let index = index(notBefore: index(holding: floorDivide(range.lowerBound, CronExpression.day)))
        guard index <= last else { return 0 }
        // Whole periods need no look at the range.
        var count = period(days(of: index)).count(in: range)
        var next = self.index(after: index)
        if unit == .day || unit == .week && rule.months == 0, next < last {
            let alike = (last - next - 1) / step + 1
            count += alike * period(days(of: next)).count
            next += alike * step
        }
        let remembers = (last - next) / step > Self.fewUnits
        var known = [Int64?](repeating: nil, count: remembers ? Self.likenesses : 0)
        while next < last {
            let place = remembers ? likeness(of: next) : nil
            let found = place.flatMap { known[$0] } ?? period(days(of: next)).count
            if let place { known[place] = found }
            count += found
            next = self.index(after: next)
        }
        if next == last { count += period(days(of: next)).count(in: range) }
        return count
    }

    /// Returns how many times in `range` have another time `distance` seconds after them; `distance` is positive.
    func pairs(in range: Range<Int64>, apart distance: Int64) -> Int64 {
        let range = range.clamped(to: start..<max(start, limit + 1 - distance))
        guard !range.isEmpty else { return 0 }
        if let pairs = pairsOfMinutes(in: range, apart: distance) { return pairs }
        var pairs: Int64 = 0
        var low = range.lowerBound
        while low < range.upperBound, let time = first(in: low..<range.upperBound) {
            pairs += count(in: time + distance..<time + distance + 1)
            low = time + 1
        }
        return pairs
    }

    /// Returns the pairs by whole minutes; nil where times of day and days do not combine freely, or the range is not
    /// of whole minutes of one day.
    private func pairsOfMinutes(in range: Range<Int64>, apart distance: Int64) -> Int64? {
        let day = floorDivide(range.lowerBound, CronExpression.day)
        let otherDay = floorDivide(range.lowerBound + distance, CronExpression.day)
        guard rule.positions.isEmpty, range.lowerBound % 60 == 0, range.upperBound % 60 == 0, distance % 60 == 0,
            floorDivide(range.upperBound - 1, CronExpression.day) == day,
            floorDivide(range.upperBound - 1 + distance, CronExpression.day) == otherDay
        else { return nil }
        guard names(day), day == otherDay || names(otherDay) else { return 0 }
        let minutes =
            (range.lowerBound - day * CronExpression.day) / 60..<(range.upperBound - day * CronExpression.day) / 60
        let shift = (distance - (otherDay - day) * CronExpression.day) / 60
        let pairs = minutes.count { times.all.hasMinute($0) && times.all.hasMinute($0 + shift) }
        return Int64(pairs * times.all.seconds.nonzeroBitCount)
    }

    /// Whether any time of day lies in a range of local times. Ranges that are not of one day count as holding one.
    func mayHoldTime(_ range: Range<Int64>) -> Bool {
        let midnight = floorDivide(range.lowerBound, CronExpression.day) * CronExpression.day
        guard range.upperBound <= midnight + CronExpression.day else { return true }
        return times.count(before: range.upperBound - midnight) > times.count(before: range.lowerBound - midnight)
    }

    /// Whether the rule names a day.
    private func names(_ day: Int64) -> Bool {
        let index = index(holding: day)
        return self.index(notBefore: index) == index && days(of: index).contains(day)
    }
}

// Units by their number: days and weeks from 1970 and the start on, months and years from the year 0 on.
extension Recurrence {
    private static func index(of unit: Unit, holding day: Int64, startWeek: Int64) -> Int64 {
        switch unit {
        case .day: return day
        case .week: return floorDivide(day - startWeek, 7)
        case .month:
            let date = CivilDate(daysSince1970: day)
            return date.year * 12 + date.month - 1
        case .year: return CivilDate(daysSince1970: day).year
        }
    }

    /// Returns the year of a month, and its number there from 1 on.
    private static func month(_ index: Int64) -> (year: Int64, number: Int) {
        let year = floorDivide(index, 12)
        return (year, Int(index - year * 12) + 1)
    }

    private func index(holding day: Int64) -> Int64 { Self.index(of: unit, holding: day, startWeek: startWeek) }

    /// Returns the first unit that counts and is not before `index`.
    private func index(notBefore index: Int64) -> Int64 {
        index <= first ? first : first + (index - first + step - 1) / step * step
    }

    /// Returns the next unit that counts. Months without a day that counts, in a daily rule, are left out.
    private func index(after index: Int64) -> Int64 {
        guard rule.frequency == .daily, unit == .month, rule.interval > 28 else { return index + step }
        let (year, number) = Self.month(index + 1)
        let firstDay = CivilMonth(year: year, month: number).firstDay
        return self.index(holding: firstDay + daysUntilNext(firstDay))
    }

    /// Returns the number of days from a day to the next that counts in a daily rule, 0 if that is the day itself.
    private func daysUntilNext(_ day: Int64) -> Int64 {
        guard day > startDay else { return startDay - day }
        let past = (day - startDay) % rule.interval
        return past == 0 ? 0 : rule.interval - past
    }

    /// Returns a number below ``likenesses`` that tells which days of a unit the rule names, counted from its first; nil where such a
    /// number would be too large.
    private func likeness(of index: Int64) -> Int? {
        let first: Int64
        switch unit {
        case .week: first = startWeek + index * 7
        case .month where rule.frequency == .monthly || rule.interval == 1:
            let (year, number) = Self.month(index)
            first = CivilMonth(year: year, month: number).firstDay
        case .day, .month, .year: return nil
        }
        // Weeks begin with the same weekday, months with the same day.
        let date = CivilDate(daysSince1970: first)
        let place = unit == .week ? Int(date.day) - 1 : CivilMonth.weekday(of: first)
        return ((CivilDate.isLeap(date.year) ? 12 : 0) + Int(date.month) - 1) * 31 + place
    }

    private static var likenesses: Int { 2 * 12 * 31 }
    /// The most units that are looked at one by one even if they are alike.
    private static var fewUnits: Int64 { 64 }

    private var unitsInCycle: Int64 {
        switch unit {
        case .day: 1
        case .week: CivilDate.daysInEra / 7
        // A cycle is a whole number of weeks.
        case .month where rule.frequency == .daily:
            4800 * (rule.interval % 7 == 0 ? rule.interval / 7 : rule.interval)
        case .month: 4800
        case .year: 400
        }
    }

    private func period(_ days: DaySet) -> RecurrencePeriod {
        RecurrencePeriod(days: days, times: times, positions: positions)
    }

    /// Returns the days of a unit that the rule names.
    private func days(of index: Int64) -> DaySet {
        switch unit {
        case .day: DaySet(firstDay: index, 1)
        case .week: rule.days(ofWeekFrom: startWeek + index * 7)
        case .month: days(ofMonth: index)
        case .year: rule.days(ofYear: index)
        }
    }

    private func days(ofMonth index: Int64) -> DaySet {
        let (year, number) = Self.month(index)
        guard rule.months == 0 || rule.months.has(number) else { return DaySet(firstDay: 0) }
        let month = CivilMonth(year: year, month: number)
        var mask = rule.mask(of: month, byWeekday: true)
        if rule.frequency == .daily, rule.interval > 1 {
            var counted: UInt64 = 0
            var offset = daysUntilNext(month.firstDay)
            while offset < month.length {
                counted |= 1 << UInt64(offset)
                offset += rule.interval
            }
            mask &= counted
        }
        return DaySet(firstDay: month.firstDay, mask)
    }
}
