@testable import TimerCore

/// Input: a byte for the zone, one for the policy, one for the months between the start and the instant to search from,
/// five for the second of the start; then lines: the rule, and the entries of a calendar, `mon-fri=09:00-17:00,18:00-19:00`
/// or `2026-12-24=`.
func fuzzRecurrence(_ input: [UInt8]) {
    guard input.count >= 8 else { return }
    let zone = zones[Int(input[0]) % zones.count]
    let policy = ClosedPolicy.allCases[Int(input[1]) % ClosedPolicy.allCases.count]
    // About the years 10 to 9999.
    let from = (input[3..<8].reduce(Int64(0)) { $0 << 8 | Int64($1) } % 315_000_000_000 - 61_800_000_000) * 1000
    let start = from - 1 + Int64(input[2]) * 30 * Schedule.day
    let lines = input[8...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    guard let rule = lines.first, let read = try? RecurrenceSchedule(rule, zone: [], from: from) else { return }
    let plain = read.bounded(in: zone)
    requireOneOrder(.recurrence(plain), after: start, in: zone)

    // Every second instant is taken away, and one is added.
    var taken: [Int64] = []
    var last = start
    while taken.count < 6, let next = plain.next(after: last, in: zone), let other = plain.next(after: next, in: zone) {
        taken.append(next)
        last = other
    }
    guard let read = try? RecurrenceSchedule(rule, zone: [], from: from, rdates: [start + 1500], exdates: taken) else {
        fatalError("broken: the rule is read once, and not again")
    }
    let schedule = Schedule.recurrence(read.bounded(in: zone))
    requireOneOrder(schedule, after: start, in: zone)
    for instant in taken where instant != start + 1500 {
        require(schedule.next(after: instant - 1, in: zone) != instant, "\(instant) was taken away, and is due")
    }
    guard let hours = openHours(lines.dropFirst(), in: zone) else { return }
    var rules = TimerRules(schedule)
    rules.calendar = CalendarName("berlin".utf8).map { CalendarRule($0, onClosed: policy) }
    requireWords(rules, in: zone)
    requireOpenTime(hours, near: start)
    guard let source = ScheduleInstants(schedule, in: zone) else { fatalError("broken: a recurrence has instants") }
    let shaped = ShapedSchedule(source: source, hours: hours, policy: policy, zone: zone)
    requireOneOrder(
        "the rule by the policy \(policy.name)", after: start, next: shaped.next,
        latest: { shaped.latest(after: start, through: $0) })
}

/// Returns opening hours that were encoded and decoded; nil where the lines are no calendar.
private func openHours(_ lines: ArraySlice<[UInt8]>, in zone: TimeZoneTable) -> OpenHours? {
    let entries = lines.map { line in
        let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let intervals = (parts.last ?? []).split(separator: UInt8(ascii: ",")).map(Array.init)
        return (key: Array(parts.first ?? []), intervals: intervals)
    }
    let isDate = { (entry: CalendarDefinition.Entry) in entry.key.first.map(CronField.isDigit) ?? false }
    let definition = try? CalendarDefinition(
        zone: [], week: entries.filter { !isDate($0) }, dates: entries.filter(isDate))
    guard let definition else { return nil }
    var encoded: [UInt8] = []
    definition.encode(into: &encoded)
    guard let decoded = CalendarDefinition(decoding: encoded.span) else {
        fatalError("broken: a calendar is encoded, and not decoded")
    }
    require(decoded == definition, "a calendar is decoded as another one")
    return OpenHours(decoded, in: zone)
}

/// Requires that openings are open, and that durations of open time are over when so much was open.
private func requireOpenTime(_ hours: OpenHours, near start: Int64) {
    for instant in [start, start + 86_399_999, start + 40 * Schedule.day + 12_345_678] {
        if let opening = hours.nextOpening(atOrAfter: instant) {
            require(opening >= instant && hours.isOpen(at: opening), "\(opening) opens after \(instant)")
            require(hours.elapsed(from: instant, to: opening) == 0, "open time lies before \(opening)")
        }
        for duration: Int64 in [1, 3_600_000, 100_000_001] {
            guard let due = hours.due(after: duration, from: instant) else { continue }
            let elapsed = hours.elapsed(from: instant, to: due)
            require(elapsed == duration, "\(duration) from \(instant) are over at \(due), after \(elapsed)")
            require(hours.elapsed(from: instant, to: due - 1) == duration - 1, "\(due) is late")
        }
    }
}
