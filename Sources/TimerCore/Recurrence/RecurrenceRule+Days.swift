import Primitives

// The days that a rule names.
extension RecurrenceRule {
    /// Returns the rule with what it leaves open taken from the local time that it starts from.
    func filled(from start: Int64, day: Int64) -> RecurrenceRule {
        var rule = self
        let time = start - day * CronExpression.day
        if times.hours == 0 { rule.times.hours = 1 << UInt64(time / 3600) }
        if times.minutes == 0 { rule.times.minutes = 1 << UInt64(time / 60 % 60) }
        if times.seconds == 0 { rule.times.seconds = 1 << UInt64(time % 60) }
        guard namesNoDay else { return rule }
        let date = CivilDate(daysSince1970: day)
        switch frequency {
        case .daily: break
        case .yearly where !weeks.isEmpty, .weekly: rule.weekdays = 1 << UInt8(CivilMonth.weekday(of: day))
        case .yearly where months == 0:
            rule.months = 1 << UInt64(date.month)
            rule.monthDays.forward = 1 << UInt64(date.day)
        case .yearly, .monthly: rule.monthDays.forward = 1 << UInt64(date.day)
        }
        return rule
    }

    /// Whether the rule leaves the days of a period open.
    var namesNoDay: Bool { weekdays == 0 && ordinals.isEmpty && monthDays.isEmpty && yearDays.isEmpty }

    /// Returns the days of a week, of which `first` is the first.
    func days(ofWeekFrom first: Int64) -> DaySet {
        var mask = UInt64(CronDays.rotate(weekdays, by: weekStart))
        if months != 0 {
            // A week has days of two months at most.
            let date = CivilDate(daysSince1970: first)
            let left = CivilDate.days(ofMonth: date.month, isLeap: CivilDate.isLeap(date.year)) - date.day + 1
            let inFirst: UInt64 = left >= 7 ? 0x7F : (1 << UInt64(left)) - 1
            if !months.has(Int(date.month)) { mask &= ~inFirst }
            if !months.has(Int(date.month % 12) + 1) { mask &= inFirst }
        }
        return DaySet(firstDay: first, mask)
    }

    /// Returns the days of a month, bit 0 for its first, whatever the months that the rule names.
    ///
    /// - Parameter byWeekday: whether the days of the week count; their numbers are those in the month.
    func mask(of month: CivilMonth, byWeekday: Bool) -> UInt64 {
        let length = month.length
        var mask: UInt64 = (1 << UInt64(length)) - 1
        if !monthDays.isEmpty {
            var named = monthDays.forward >> 1
            if monthDays.backward != 0 {
                for day in 1...length where monthDays.backward.has(day) { named |= 1 << UInt64(length - day) }
            }
            mask &= named
        }
        if byWeekday, weekdays != 0 || !ordinals.isEmpty {
            let weekday = month.firstWeekday
            var named = UInt64(CronDays.mask(of: weekdays, firstWeekday: weekday) >> 1)
            for ordinal in ordinals {
                if let day = ordinal.index(in: length, firstWeekday: weekday) { named |= 1 << UInt64(day) }
            }
            mask &= named
        }
        return mask
    }

    /// Returns the days of a year.
    func days(ofYear year: Int64) -> DaySet {
        var month = CivilMonth(year: year, month: 1)
        let january = month
        let length = CivilDate.isLeap(year) ? 366 : 365
        // Without months the numbers of days of the week are those in the year.
        let countsInYear = months == 0 && !ordinals.isEmpty
        var days = DaySet(firstDay: january.firstDay)
        for _ in 1...12 {
            if months == 0 || months.has(month.month) {
                let offset = Int(month.firstDay - january.firstDay)
                days.insert(mask(of: month, byWeekday: !countsInYear), at: offset)
            }
            month.advance()
        }
        if countsInYear { days.formIntersection(weekdays(from: january, length: length)) }
        if !yearDays.isEmpty {
            var named = DaySet(firstDay: january.firstDay)
            for day in yearDays {
                let offset = day > 0 ? Int(day) - 1 : length + Int(day)
                if (0..<length).contains(offset) { named.insert(1, at: offset) }
            }
            days.formIntersection(named)
        }
        if !weeks.isEmpty { days.formIntersection(daysOfWeeks(in: year, firstDay: january.firstDay)) }
        return days
    }

    /// Returns the days of the week in a year, by their numbers in it.
    private func weekdays(from january: CivilMonth, length: Int) -> DaySet {
        var named = DaySet(firstDay: january.firstDay)
        let firstWeekday = january.firstWeekday
        for weekday in 0..<7 where weekdays & 1 << UInt8(weekday) != 0 {
            for offset in stride(from: (weekday - firstWeekday + 7) % 7, to: length, by: 7) {
                named.insert(1, at: offset)
            }
        }
        for ordinal in ordinals {
            if let day = ordinal.index(in: length, firstWeekday: firstWeekday) { named.insert(1, at: day) }
        }
        return named
    }

    /// Returns the days of a year that are in one of the numbered weeks. A day counts by the week that it is in, which
    /// near New Year may be one of the year before or after.
    private func daysOfWeeks(in year: Int64, firstDay: Int64) -> DaySet {
        var named = DaySet(firstDay: firstDay)
        for weekYear in year - 1...year + 1 {
            let start = firstWeek(of: weekYear)
            let count = Int((firstWeek(of: weekYear + 1) - start) / 7)
            // Only the last and the first of the weeks of other years reach into this one.
            let low = weekYear < year ? count : 1
            let high = weekYear > year ? 1 : count
            for week in low...high where weeks.forward.has(week) || weeks.backward.has(count + 1 - week) {
                named.insert(0x7F, at: Int(start - firstDay) + 7 * (week - 1))
            }
        }
        return named
    }

    /// Returns the day that week 1 of a year begins with: the first week of which four days or more are in the year.
    private func firstWeek(of year: Int64) -> Int64 {
        let january = CivilMonth(year: year, month: 1)
        let past = (january.firstWeekday - weekStart + 7) % 7
        return january.firstDay - Int64(past) + (past > 3 ? 7 : 0)
    }
}

extension RecurrenceRule.Ordinal {
    /// Returns the day that is meant, 0 for the first of `length` days, whose weekday is `firstWeekday`; nil when there
    /// is none.
    fileprivate func index(in length: Int, firstWeekday: Int) -> Int? {
        let first = (weekday - firstWeekday + 7) % 7
        let last = first + (length - 1 - first) / 7 * 7
        let index = nth > 0 ? first + (nth - 1) * 7 : last + (nth + 1) * 7
        return (0..<length).contains(index) ? index : nil
    }
}
