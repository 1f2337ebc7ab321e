/// The days of a schedule in words. An empty list or set stands for a part that restricts nothing.
struct DayWords {
    /// The length of a period.
    enum Unit: String { case day, week, month, year }

    /// The days of the month, such as `the 1st`.
    var monthDays: [String] = []
    /// The days of the week that have no number; bit 0 is Sunday.
    var weekdays: UInt8 = 0
    /// The days of the week that have a number, such as `the last Friday`.
    var numbered: [String] = []
    /// The days of the year, such as `the 100th day`.
    var yearDays: [String] = []
    /// The weeks of the year, such as `week 20`.
    var weeks: [String] = []
    /// The months, bit 1 for January.
    var months: UInt64 = 0
    /// Whether a day counts that is one of `monthDays` or a day of the week as named; else it must be both.
    var isEither = false
    /// Whether the numbers of `numbered` are those in the year; else they are those in the month.
    var countsInYear = false
    /// Whether the days of a period are those of the schedule's start, which is not known.
    var isOpen = false
    /// The unit of which every `interval`th counts.
    var unit = Unit.day
    var interval: Int64 = 1

    private let phrases: Phrases

    /// Describes all days; see the members.
    init(_ phrases: Phrases) { self.phrases = phrases }

    /// Returns the days and the times of a schedule.
    func text(with times: TimeWords) -> String {
        let first = isEveryDay && (times.isInEveryHour || !times.followsDays) ? "" : days(isFirst: true)
        let parts = times.followsDays ? [first, times.text] : [times.text, days(isFirst: false)]
        let text = parts.filter { !$0.isEmpty }.joined(separator: " ")
        let conditions = conditions
        return conditions.isEmpty ? text : text + ", if that day is " + conditions.joined(separator: ", and ")
    }

    private var isEveryDay: Bool { !isOpen && interval == 1 && parts.isEmpty && weeks.isEmpty && months == 0 }

    /// The parts that restrict the days, in the order in which they are described: the first one names the days, the
    /// others are conditions.
    private enum Part { case monthDays, weekdays, yearDays }

    private var parts: [Part] {
        var parts: [Part] = []
        if !monthDays.isEmpty { parts.append(.monthDays) }
        if weekdays != 0 || !numbered.isEmpty { parts.append(.weekdays) }
        if !yearDays.isEmpty { parts.append(.yearDays) }
        return parts
    }

    /// Whether the days of a rule are all conditions, as the rule counts days.
    private var countsDays: Bool { unit == .day && interval > 1 }

    /// Whether the months are a condition; else the days name them.
    private var hasMonthsAsCondition: Bool {
        months != 0 && (interval > 1 && unit != .year || parts.first == .yearDays || !weeks.isEmpty)
    }

    /// Whether the weeks of the year are a condition; else they follow the days of the week.
    private var hasWeeksAsCondition: Bool { !monthDays.isEmpty || !numbered.isEmpty || !yearDays.isEmpty }

    // MARK: - Days

    /// Returns the days as they precede the times, `every Monday`, or as they follow them, `on Mondays`.
    private func days(isFirst: Bool) -> String {
        let period = "every \(Phrases.spelled(interval)) \(unit)"
        if countsDays { return isFirst ? period : "on \(period)" }
        if isOpen { return (isFirst ? "" : "in ") + (interval > 1 ? period : "every \(unit)") + inMonths + inWeeks }
        guard interval > 1 else { return named(isFirst: isFirst) }
        if unit == .week, parts == [.weekdays], weekdays.nonzeroBitCount == 1 {
            let name = Phrases.weekdayNames[weekdays.trailingZeroBitCount]
            return (isFirst ? "" : "on ") + "every \(Phrases.spelled(interval)) \(name)"
        }
        let days = parts.isEmpty ? "on " + named(isFirst: true) : named(isFirst: false)
        return (isFirst ? "" : "in ") + period + " " + days
    }

    /// Returns the days in each period that counts.
    private func named(isFirst: Bool) -> String {
        if isEither { return ofMonth + " and " + ofWeek(isFirst: isFirst) }
        return switch parts.first {
        case .monthDays: ofMonth
        case .weekdays: ofWeek(isFirst: isFirst) + inWeeks
        case .yearDays: "on " + phrases.list(yearDays) + (interval == 1 ? " of each year" : "")
        case nil: isFirst ? "every day" + inMonths + inWeeks : String((inMonths + inWeeks).dropFirst())
        }
    }

    private var ofMonth: String { "on " + phrases.list(monthDays) + scope }

    private func ofWeek(isFirst: Bool) -> String {
        guard numbered.isEmpty else {
            return "on " + phrases.list(weekdayNames.map { "every \($0)" } + numbered) + scope
        }
        if let left = missingWeekday { return (isFirst ? "every day" : "on all days") + " but \(left)" + inMonths }
        let names = isFirst ? weekdayNames : weekdayNames.map { "\($0)s" }
        return (isFirst ? "every " : "on ") + phrases.list(names) + inMonths
    }

    /// The months or the periods to which numbers of days belong.
    private var scope: String {
        if countsInYear, monthDays.isEmpty { return interval == 1 ? " of each year" : "" }
        if months != 0, !hasMonthsAsCondition { return " of \(phrases.months(months))" }
        return interval > 1 && unit == .month ? "" : " of each month"
    }

    private var inMonths: String {
        months == 0 || hasMonthsAsCondition ? "" : " in \(phrases.months(months))"
    }

    private var inWeeks: String {
        weeks.isEmpty || hasWeeksAsCondition ? "" : " in \(phrases.list(weeks)) of the year"
    }

    private static let workingWeek: UInt8 = 0b011_1110

    /// The names of the days of the week that have no number, `weekday` for those from Monday to Friday.
    private var weekdayNames: [String] {
        weekdays == Self.workingWeek
            ? ["weekday"]
            : Phrases.week.filter { weekdays & 1 << UInt8($0) != 0 }.map { Phrases.weekdayNames[$0] }
    }

    /// The only day of the week that does not count; nil where several do not, or days have numbers.
    private var missingWeekday: String? {
        guard weekdays.nonzeroBitCount == 6, numbered.isEmpty else { return nil }
        return Phrases.weekdayNames[(~weekdays).trailingZeroBitCount]
    }

    // MARK: - Conditions

    private var conditions: [String] {
        var conditions: [String] = []
        if !isEither { conditions = (countsDays ? parts : Array(parts.dropFirst())).map(condition) }
        if !weeks.isEmpty, hasWeeksAsCondition { conditions.append("in \(phrases.list(weeks, "or")) of the year") }
        if hasMonthsAsCondition { conditions.append("in \(phrases.months(months, "or"))") }
        return conditions
    }

    private func condition(_ part: Part) -> String {
        switch part {
        case .monthDays: return phrases.list(monthDays, "or") + " of the month"
        case .yearDays: return phrases.list(yearDays, "or") + " of the year"
        case .weekdays:
            if let missingWeekday { return "no \(missingWeekday)" }
            let names = weekdayNames.map { "a \($0)" } + numbered
            return phrases.list(names, "or") + (numbered.isEmpty ? "" : " of the \(countsInYear ? "year" : "month")")
        }
    }
}
