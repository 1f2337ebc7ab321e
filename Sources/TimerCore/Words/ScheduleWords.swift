/// Words for the schedules that name their instants.
struct ScheduleWords {
    let phrases: Phrases

    /// Returns the local times that an expression names: `every weekday at 09:00`.
    func text(_ expression: CronExpression) -> String {
        var days = DayWords(phrases)
        let cron = expression.days
        let isEveryDay = cron.days == Self.allMonthDays || cron.weekdays == Self.allWeekdays
        days.isEither = !cron.bothMustMatch && !isEveryDay
        if days.isEither || cron.bothMustMatch {
            if cron.days != Self.allMonthDays { days.monthDays = monthDays(cron) }
            if cron.weekdays != Self.allWeekdays { (days.weekdays, days.numbered) = (cron.weekdays, numbered(cron)) }
        }
        if expression.months != Self.allMonths { days.months = expression.months }
        return days.text(with: TimeWords(expression.times, phrases))
    }

    private static let allMonthDays = UInt32.max - 1
    private static let allWeekdays: UInt8 = 0x7F
    private static let allMonths: UInt64 = 0x1FFE

    private func monthDays(_ days: CronDays) -> [String] {
        var items = named(UInt64(days.days))
        for day in UInt64(days.nearestWeekdays).members {
            items.append("the weekday nearest the \(Phrases.ordinal(Int64(day)))")
        }
        if days.lastWeekday { items.append("the last weekday") }
        for before in UInt64(days.daysBeforeLast).members.reversed() {
            items.append("the \(Phrases.place(-1 - Int64(before))) day")
        }
        return items
    }

    /// Returns numbers of days in the month: `the 1st`, `the 10th to the 15th`, `every second day from the 1st to the 31st`.
    private func named(_ days: UInt64) -> [String] {
        let numbers = days.members
        func name(_ day: Int) -> String { "the \(Phrases.ordinal(Int64(day)))" }
        if numbers.count > 3, let step = Phrases.step(of: numbers), step > 1, let last = numbers.last {
            return ["every \(Phrases.spelled(Int64(step))) day from \(name(numbers[0])) to \(name(last))"]
        }
        return Phrases.ranges(numbers, name)
    }

    private func numbered(_ days: CronDays) -> [String] {
        var items: [String] = []
        for nth in 1...5 {
            for weekday in Phrases.week where days.nthWeekdays[nth] & 1 << UInt8(weekday) != 0 {
                items.append(Self.numbered(Int64(nth), weekday))
            }
        }
        for weekday in Phrases.week where days.lastOfWeekdays & 1 << UInt8(weekday) != 0 {
            items.append(Self.numbered(-1, weekday))
        }
        return items
    }

    private static func numbered(_ nth: Int64, _ weekday: Int) -> String {
        "the \(Phrases.place(nth)) \(Phrases.weekdayNames[weekday])"
    }
}

// Recurrence rules.
extension ScheduleWords {
    /// Returns the local times of a schedule, then its end, its start and its further dates.
    func text(_ schedule: RecurrenceSchedule, in zone: TimeZoneTable?) -> String {
        var rule = schedule.rule
        var open = ""
        if schedule.from != RecurrenceSchedule.unset, let zone {
            let start = floorDivide(zone.local(at: schedule.from), 1000)
            rule = rule.filled(from: start, day: floorDivide(start, CronExpression.day))
        } else {
            open = openParts(of: rule)
        }
        var text = text(rule, isOpen: !open.isEmpty) + open + zoneName(schedule.zone)
        switch rule.end {
        case .never: break
        case .count(let count): text += "; \(Phrases.count(count, "time")) in all"
        case .instant(let second): text += "; through \(Phrases.instant(second * 1000))"
        case .local(let second):
            let isEndOfDay = (second + 1) % CronExpression.day == 0
            text +=
                "; through "
                + (isEndOfDay ? Phrases.date(floorDivide(second, CronExpression.day)) : Phrases.local(second))
        }
        text += schedule.from == RecurrenceSchedule.unset ? "; from its start on" : from(schedule.from)
        let dates = [
            schedule.rdates.isEmpty ? nil : "and \(Phrases.count(Int64(schedule.rdates.count), "date")) besides",
            schedule.exdates.isEmpty ? nil : "without \(Phrases.count(Int64(schedule.exdates.count), "date"))",
        ].compactMap(\.self)
        return dates.isEmpty ? text : text + "; " + dates.joined(separator: ", ")
    }

    /// Returns `, Europe/Berlin`.
    func zoneName(_ zone: [UInt8]) -> String { ", " + String(decoding: zone, as: UTF8.self) }

    /// Returns `; from 2030-01-01 08:00 UTC on`.
    func from(_ instant: Int64) -> String { "; from \(Phrases.instant(instant)) on" }

    private func text(_ rule: RecurrenceRule, isOpen: Bool) -> String {
        var days = DayWords(phrases)
        days.isOpen = isOpen && rule.namesNoDay && rule.frequency != .daily
        days.interval = rule.interval
        days.unit =
            switch rule.frequency {
            case .daily: .day
            case .weekly: .week
            case .monthly: .month
            case .yearly: .year
            }
        if rule.months != Self.allMonths { days.months = rule.months }
        if rule.monthDays.forward != UInt64(Self.allMonthDays) { days.monthDays = monthDays(rule) }
        if rule.weekdays != Self.allWeekdays {
            days.weekdays = rule.weekdays
            days.numbered = rule.ordinals.map { Self.numbered(Int64($0.nth), $0.weekday) }
        }
        days.countsInYear = rule.frequency == .yearly && rule.months == 0
        days.yearDays =
            rule.yearDays.filter { $0 > 0 }.map { "the \(Phrases.ordinal($0)) day" }
            + rule.yearDays.filter { $0 < 0 }.reversed().map { "the \(Phrases.place($0)) day" }
        days.weeks =
            Phrases.ranges(rule.weeks.forward.members) { "week \($0)" }
            + rule.weeks.backward.members.map { "the \(Phrases.place(-Int64($0))) week" }
        let selected = rule.selectedTimes.flatMap { rule.times.count > 0 ? $0 : nil }
        let times = selected.map { TimeWords($0.map(rule.times.time), phrases) } ?? TimeWords(rule.times, phrases)
        var isSelected = selected != nil || rule.positions.isEmpty
        if !isSelected, let chosen = selectedWeekdays(rule) {
            days.weekdays = 0
            days.numbered = chosen
            isSelected = true
        }
        let text = days.text(with: times)
        let weekStart = rule.weekStart == 1 ? "" : ", weeks beginning on \(Phrases.weekdayNames[rule.weekStart])"
        return text + (isSelected ? "" : ", of these only \(places(rule.positions)) of each \(days.unit)") + weekStart
    }

    private func monthDays(_ rule: RecurrenceRule) -> [String] {
        named(rule.monthDays.forward)
            + rule.monthDays.backward.members.map { "the \(Phrases.place(-Int64($0))) day" }
    }

    private func places(_ positions: Positions) -> String {
        phrases.list((positions.forward + positions.backward.reversed()).map { "the \(Phrases.place($0))" })
    }

    /// Returns the days that positions select from the days of the week in a month, such as `the last weekday`; nil
    /// where they select from other instants too.
    private func selectedWeekdays(_ rule: RecurrenceRule) -> [String]? {
        guard rule.frequency == .monthly, rule.times.count == 1, rule.monthDays.isEmpty, rule.ordinals.isEmpty else {
            return nil
        }
        let noun: String? =
            switch rule.weekdays {
            case 0b011_1110: "weekday"
            case 0b100_0001: "weekend day"
            case Self.allWeekdays: "day"
            default:
                rule.weekdays.nonzeroBitCount == 1 ? Phrases.weekdayNames[rule.weekdays.trailingZeroBitCount] : nil
            }
        guard let noun else { return nil }
        return (rule.positions.forward + rule.positions.backward.reversed()).map { "the \(Phrases.place($0)) \(noun)" }
    }

    /// Returns the parts that a rule leaves open, for a start that is not known.
    private func openParts(of rule: RecurrenceRule) -> String {
        var parts: [String] = []
        if rule.namesNoDay {
            switch rule.frequency {
            case .daily: break
            case .yearly where !rule.weeks.isEmpty, .weekly: parts.append("day of the week")
            case .yearly where rule.months == 0: parts.append("date")
            case .yearly, .monthly: parts.append("day of the month")
            }
        }
        let times = rule.times
        if times.hours == 0, times.minutes == 0, times.seconds == 0 {
            parts.append("time of day")
        } else {
            if times.hours == 0 { parts.append("hour") }
            if times.minutes == 0 { parts.append("minute") }
            if times.seconds == 0 { parts.append("second") }
        }
        return parts.isEmpty ? "" : ", with the \(phrases.list(parts)) of its start"
    }
}
