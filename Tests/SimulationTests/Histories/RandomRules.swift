import TestSupport

@testable import TimerCore

/// Delays and rules of every size a client may ask for.
enum RandomRules {
    static let day: Int64 = 86_400_000
    /// Delays at which a counter of some width, or a calendar, may turn over.
    static let largeDelays: [Int64] = [25 * day, 50 * day, 366 * day, 32_872 * day, 1 << 31, 1 << 32, 36_525 * day]

    static func delay(_ random: inout SeededGenerator) -> Int64 {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: 0
        case 1..<10: Int64.random(in: 1...5000, using: &random)
        case 10..<16: Int64.random(in: 1...120_000, using: &random)
        case 16..<18: Int64.random(in: 1...day, using: &random)
        default: largeDelays.randomElement(using: &random) ?? day
        }
    }

    private static func period(_ random: inout SeededGenerator) -> Int64 {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: Int64.random(in: 1...50, using: &random)
        case 1..<14: Int64.random(in: 200...20_000, using: &random)
        default: max(1, delay(&random))
        }
    }

    /// Expressions that are due on every whole multiple of so many milliseconds since 1970, in UTC.
    static let crons: [(text: String, period: Int64)] = [
        ("* * * * * *", 1000), ("*/5 * * * * *", 5000), ("*/20 * * * * ?", 20_000), ("* * * * *", 60_000),
        ("0 */10 * * * *", 600_000), ("@hourly", 3_600_000), ("0 0 * * *", day),
    ]

    /// Recurrence rules that are due on every whole multiple of so many milliseconds since 1970, in UTC.
    static let recurrences: [(text: String, period: Int64)] = [
        (
            "FREQ=DAILY;BYSECOND=0;BYMINUTE=\((0..<60).map(String.init).joined(separator: ","))"
                + ";BYHOUR=\((0..<24).map(String.init).joined(separator: ","))", 60_000
        ),
        ("RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,12", day / 2), ("FREQ=DAILY", day),
    ]

    private static func recurrence(_ random: inout SeededGenerator) -> Schedule {
        let text = recurrences.randomElement(using: &random)?.text ?? "FREQ=DAILY"
        // The year 0: no client and no step of the calendar leads to an instant before the first one.
        let from = -719_528 * day
        guard let recurrence = try? RecurrenceSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: from) else {
            preconditionFailure("each rule is right")
        }
        return .recurrence(recurrence)
    }

    private static func cron(_ random: inout SeededGenerator) -> Schedule {
        let text = crons.randomElement(using: &random)?.text ?? "* * * * *"
        guard let cron = try? CronSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: nil) else {
            preconditionFailure("each expression is right")
        }
        return .cron(cron)
    }

    /// Makes any rules. `wall` is the calendar now, in milliseconds.
    static func make(_ random: inout SeededGenerator, wall: Int64) -> TimerRules {
        let instant = wall + (random.chance(oneIn: 4) ? -delay(&random) : delay(&random))
        let period = period(&random)
        var rules: TimerRules
        switch Int.random(in: 0..<15, using: &random) {
        case 0, 1: rules = TimerRules(.after(delay(&random)))
        case 2: rules = TimerRules(.at(instant))
        case 3: rules = TimerRules(.at(2_147_483_648_000))
        case 4, 5: rules = TimerRules(.every(period, first: .period))
        case 6: rules = TimerRules(.every(period, first: .after(delay(&random))))
        case 7, 8: rules = TimerRules(.every(period, first: .at(instant)))
        case 9, 10: rules = TimerRules(cron(&random))
        case 11: rules = TimerRules(recurrence(&random))
        default:
            rules = TimerRules(.watchdog(max(1, period)))
            rules.misses = random.chance(oneIn: 3) ? Int64.random(in: 2...4, using: &random) : 1
            rules.repeatAlarm = random.chance(oneIn: 2)
        }
        addPolicies(to: &rules, &random, wall: wall)
        return rules
    }

    private static func addPolicies(to rules: inout TimerRules, _ random: inout SeededGenerator, wall: Int64) {
        let kind = rules.schedule.kind
        if !rules.schedule.isCalendar && random.chance(oneIn: 2) {
            rules.clock = TimerClock.withoutCalendar.randomElement(using: &random) ?? .wall
        }
        if kind == .repeating && random.chance(oneIn: 3) { rules.mode = .fixedDelay }
        if kind != .watchdog {
            rules.onResume = ResumePolicy.allCases.randomElement(using: &random) ?? .remaining
            rules.misfire = MisfirePolicy.allCases.randomElement(using: &random) ?? .once
            if random.chance(oneIn: 4) { rules.misfireGrace = delay(&random) }
        }
        rules.start = random.chance(oneIn: 6) ? .manual : .now
        rules.restartable = random.chance(oneIn: 2)
        if random.chance(oneIn: 4) { rules.leeway = delay(&random) }
        if random.chance(oneIn: 4) { rules.jitter = delay(&random) }
        if random.chance(oneIn: 4) { rules.maxFires = Int64.random(in: 1...6, using: &random) }
        if random.chance(oneIn: 6) { rules.until = wall + delay(&random) }
        if random.chance(oneIn: 2) { rules.retain = delay(&random) }
    }
}
