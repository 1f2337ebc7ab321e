import Primitives

/// The bytes of a timer's rules within its definition.
///
/// ```
/// plan       a byte: shape of the schedule (3 bits), clock (2), mode (1), onResume (2)
/// flags      a varint
/// calendar   where its flag is set: see `CalendarRule`
/// schedule   varints; cron: length and bytes of the expression, then of the zone; recurrence: likewise the rule and the
///            zone, from, then rdates and exdates, each a length and as many bytes of varints, the first instant and the
///            steps to the others; where the flag `zoned` is set, there follows the zone of a grid, or the cron schedule
///            of a watchdog, with the flag `rule` its recurrence
/// the rest   varints, each where its flag is set: from, maxFires, until, retain, leeway, jitter, misfireGrace, misses,
///            deliveries
/// ```
enum RulesCodec {
    private struct Flags: OptionSet {
        let rawValue: UInt64
        static let payload = Flags(rawValue: 1)
        static let retain = Flags(rawValue: 1 << 1)
        static let maxFires = Flags(rawValue: 1 << 2)
        static let until = Flags(rawValue: 1 << 3)
        static let manual = Flags(rawValue: 1 << 4)
        static let restartable = Flags(rawValue: 1 << 5)
        static let webhook = Flags(rawValue: 1 << 6)
        static let leeway = Flags(rawValue: 1 << 7)
        static let jitter = Flags(rawValue: 1 << 8)
        static let misfireGrace = Flags(rawValue: 1 << 9)
        static let misses = Flags(rawValue: 1 << 10)
        static let repeatAlarm = Flags(rawValue: 1 << 11)
        static let subscriber = Flags(rawValue: 1 << 12)
        static let from = Flags(rawValue: 1 << 13)
        /// The place of the two bits of the misfire policy.
        static let misfireShift: UInt64 = 14
        static let misfireMask: UInt64 = 3
        static let stopsUnsubscribed = Flags(rawValue: 1 << 16)
        static let zoned = Flags(rawValue: 1 << 17)
        static let rule = Flags(rawValue: 1 << 18)
        static let calendar = Flags(rawValue: 1 << 19)
        static let all = Flags(rawValue: 1 << 20 - 1)
    }

    private static let gridShape: UInt8 = 4
    private static let cronShape: UInt8 = 5
    private static let watchdogShape: UInt8 = 6
    private static let recurrenceShape: UInt8 = 7
    private static let shapeMask: UInt8 = 7

    static func append(_ rules: TimerRules, hasPayload: Bool, hasWebhook: Bool, to bytes: inout [UInt8]) {
        let flags = flags(rules, hasPayload: hasPayload, hasWebhook: hasWebhook)
        let plan = rules.clock.rawValue << 3 | rules.mode.rawValue << 5 | rules.onResume.rawValue << 6
        bytes.append(shape(rules.schedule) | plan)
        ByteCoding.append(flags.rawValue, to: &bytes)
        rules.calendar?.append(to: &bytes)
        append(rules.schedule, to: &bytes)
        if let maxFires = rules.maxFires { ByteCoding.append(signed: maxFires, to: &bytes) }
        if let until = rules.until { ByteCoding.append(signed: until, to: &bytes) }
        if flags.contains(.retain) { ByteCoding.append(signed: rules.retain, to: &bytes) }
        if flags.contains(.leeway) { ByteCoding.append(signed: rules.leeway, to: &bytes) }
        if flags.contains(.jitter) { ByteCoding.append(signed: rules.jitter, to: &bytes) }
        if let grace = rules.misfireGrace { ByteCoding.append(signed: grace, to: &bytes) }
        if flags.contains(.misses) { ByteCoding.append(signed: rules.misses, to: &bytes) }
        if hasWebhook { ByteCoding.append(UInt64(rules.deliveries.rawValue), to: &bytes) }
    }

    private static func flags(_ rules: TimerRules, hasPayload: Bool, hasWebhook: Bool) -> Flags {
        var flags = Flags(rawValue: UInt64(rules.misfire.rawValue) << Flags.misfireShift)
        if hasPayload { flags.insert(.payload) }
        if hasWebhook { flags.insert(.webhook) }
        if rules.start == .manual { flags.insert(.manual) }
        if rules.start == .subscriber { flags.insert(.subscriber) }
        if rules.stop == .subscriber { flags.insert(.stopsUnsubscribed) }
        if rules.restartable { flags.insert(.restartable) }
        if rules.maxFires != nil { flags.insert(.maxFires) }
        if rules.until != nil { flags.insert(.until) }
        if rules.retain != TimerRules.defaultRetain { flags.insert(.retain) }
        if rules.schedule.from != nil { flags.insert(.from) }
        switch rules.schedule {
        case .every(_, first: .local): flags.insert(.zoned)
        case .expecting(let schedule, _):
            flags.insert(.zoned)
            if case .recurrence = schedule { flags.insert(.rule) }
        case .after, .at, .every, .cron, .recurrence, .watchdog: break
        }
        if rules.leeway != 0 { flags.insert(.leeway) }
        if rules.jitter != 0 { flags.insert(.jitter) }
        if rules.misfireGrace != nil { flags.insert(.misfireGrace) }
        if rules.misses != 1 { flags.insert(.misses) }
        if rules.repeatAlarm { flags.insert(.repeatAlarm) }
        if rules.calendar != nil { flags.insert(.calendar) }
        return flags
    }

    private static func shape(_ schedule: Schedule) -> UInt8 {
        switch schedule {
        case .after: 0
        case .at: 1
        case .every(_, first: .period): 2
        case .every(_, first: .after): 3
        case .every(_, first: .at), .every(_, first: .local): gridShape
        case .cron: cronShape
        case .recurrence: recurrenceShape
        case .watchdog, .expecting: watchdogShape
        }
    }

    private static func append(_ schedule: Schedule, to bytes: inout [UInt8]) {
        switch schedule {
        case .after(let number), .at(let number), .every(let number, first: .period), .watchdog(let number):
            ByteCoding.append(signed: number, to: &bytes)
        case .every(let period, first: .after(let first)), .every(let period, first: .at(let first)):
            ByteCoding.append(signed: period, to: &bytes)
            ByteCoding.append(signed: first, to: &bytes)
        case .every(let period, first: .local(let start, let zone)):
            ByteCoding.append(signed: period, to: &bytes)
            ByteCoding.append(signed: start, to: &bytes)
            append(run: zone, to: &bytes)
        case .cron(let cron):
            append(run: cron.text, to: &bytes)
            append(run: cron.zone, to: &bytes)
            if let from = cron.from { ByteCoding.append(signed: from, to: &bytes) }
        case .recurrence(let recurrence):
            append(run: recurrence.text, to: &bytes)
            append(run: recurrence.zone, to: &bytes)
            if recurrence.from != RecurrenceSchedule.unset { ByteCoding.append(signed: recurrence.from, to: &bytes) }
            ByteCoding.append(instants: recurrence.rdates, to: &bytes)
            ByteCoding.append(instants: recurrence.exdates, to: &bytes)
        case .expecting(let schedule, let grace):
            ByteCoding.append(signed: grace, to: &bytes)
            append(schedule, to: &bytes)
        }
    }

    private static func append(run: [UInt8], to bytes: inout [UInt8]) {
        ByteCoding.append(UInt64(run.count), to: &bytes)
        bytes.append(contentsOf: run)
    }

    /// Returns the traits of the rules that begin at `place`; nil when there are none.
    static func traits(_ bytes: Span<UInt8>, at place: Int) -> Definition.Traits? {
        var offset = place
        guard let plan = byte(bytes, &offset), let clock = TimerClock(rawValue: plan >> 3 & 3),
            let flags = ByteCoding.read(bytes, &offset).map({ Flags(rawValue: $0) })
        else { return nil }
        var traits = Definition.Traits(clock)
        if flags.contains(.calendar) { traits.insert(.calendar) }
        if namesInstants(plan & shapeMask) || !flags.isDisjoint(with: [.zoned, .calendar]) { traits.insert(.zoned) }
        if isRule(plan, flags) { traits.insert(.rule) }
        if flags.contains(.stopsUnsubscribed) { traits.insert(.stopsUnsubscribed) }
        let misfire = MisfirePolicy(rawValue: UInt8(flags.rawValue >> Flags.misfireShift & Flags.misfireMask))
        if plan & shapeMask != watchdogShape, flags.isDisjoint(with: [.leeway, .jitter]), misfire != .all {
            traits.insert(.punctual)
        }
        return traits
    }

    private static func namesInstants(_ shape: UInt8) -> Bool { shape == cronShape || shape == recurrenceShape }

    /// Whether the rules at `place` have a recurrence that begins with the step which takes them.
    static func lacksStart(_ bytes: Span<UInt8>, at place: Int) -> Bool {
        var offset = place
        guard let plan = byte(bytes, &offset), let flags = ByteCoding.read(bytes, &offset).map({ Flags(rawValue: $0) })
        else { return false }
        return isRule(plan, flags) && !flags.contains(.from)
    }

    private static func isRule(_ plan: UInt8, _ flags: Flags) -> Bool {
        plan & shapeMask == recurrenceShape || plan & shapeMask == watchdogShape && flags.contains(.rule)
    }

    /// Writes the start of a recurrence into the rules at `place`, if it begins with the step that makes or changes its
    /// timer.
    static func setStart(_ wall: Int64, in bytes: inout [UInt8], at place: Int) {
        var offset = place + 1
        guard lacksStart(bytes.span, at: place),
            var flags = ByteCoding.read(bytes.span, &offset).map({ Flags(rawValue: $0) })
        else { return }
        let rest = offset
        if flags.contains(.calendar) { _ = CalendarRule(bytes.span, &offset) }
        if isWatchdog(bytes.span, at: place) { _ = ByteCoding.readSigned(bytes.span, &offset) }
        guard run(bytes.span, &offset) != nil, run(bytes.span, &offset) != nil else { return }
        flags.insert(.from)
        var begun = Array(bytes[...place])
        ByteCoding.append(flags.rawValue, to: &begun)
        begun += bytes[rest..<offset]
        ByteCoding.append(signed: RecurrenceSchedule.wholeSecond(wall), to: &begun)
        bytes = begun + bytes[offset...]
    }

    /// Writes the spent instants of a schedule into the rules at `place`, which have a calendar.
    static func setSpent(_ spent: SpentInstants, in bytes: inout [UInt8], at place: Int) {
        var offset = place + 1
        guard let flags = ByteCoding.read(bytes.span, &offset).map({ Flags(rawValue: $0) }), flags.contains(.calendar)
        else { return }
        let start = offset
        guard var rule = CalendarRule(bytes.span, &offset), rule.spent != spent else { return }
        rule.spent = spent
        var changed = Array(bytes[..<start])
        rule.append(to: &changed)
        bytes = changed + bytes[offset...]
    }

    /// Returns the name of the calendar in the rules that begin at `place`; nil where there is none.
    static func calendarName(_ bytes: Span<UInt8>, at place: Int) -> CalendarName? {
        var offset = place
        guard byte(bytes, &offset) != nil, let flags = ByteCoding.read(bytes, &offset).map({ Flags(rawValue: $0) }),
            flags.contains(.calendar)
        else { return nil }
        return CalendarRule(bytes, &offset)?.name
    }

    /// Whether the rules that begin at `place` are a watchdog's.
    static func isWatchdog(_ bytes: Span<UInt8>, at place: Int) -> Bool {
        place < bytes.count && bytes[place] & shapeMask == watchdogShape
    }

    /// The error for bytes that are no rules. Optional rules in its place would be copied more often, which cost a timer in a
    /// list 250 instructions.
    struct Unreadable: Error {}

    /// Reads rules and moves `offset` past them.
    static func read(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ cache: ScheduleCache? = nil
    ) throws(Unreadable) -> (rules: TimerRules, hasPayload: Bool, hasWebhook: Bool) {
        guard let plan = byte(bytes, &offset), let clock = TimerClock(rawValue: plan >> 3 & 3),
            let mode = RepeatMode(rawValue: plan >> 5 & 1), let onResume = ResumePolicy(rawValue: plan >> 6),
            let flags = ByteCoding.read(bytes, &offset).map({ Flags(rawValue: $0) }), Flags.all.isSuperset(of: flags),
            let misfire = MisfirePolicy(rawValue: UInt8(flags.rawValue >> Flags.misfireShift & Flags.misfireMask))
        else { throw Unreadable() }
        let calendar = flags.contains(.calendar) ? CalendarRule(bytes, &offset) : nil
        guard (calendar != nil) == flags.contains(.calendar), clock != .working || calendar != nil,
            let schedule = schedule(bytes, &offset, shape: plan & shapeMask, flags, cache)
        else { throw Unreadable() }
        var rules = TimerRules(schedule)
        rules.clock = clock
        rules.calendar = calendar
        rules.mode = mode
        rules.onResume = onResume
        rules.misfire = misfire
        rules.start = flags.contains(.subscriber) ? .subscriber : flags.contains(.manual) ? .manual : .now
        rules.stop = flags.contains(.stopsUnsubscribed) ? .subscriber : nil
        rules.restartable = flags.contains(.restartable)
        rules.repeatAlarm = flags.contains(.repeatAlarm)
        guard readNumbers(flags, bytes, &offset, into: &rules) else { throw Unreadable() }
        return (rules, flags.contains(.payload), flags.contains(.webhook))
    }

    private static func readNumbers(
        _ flags: Flags, _ bytes: Span<UInt8>, _ offset: inout Int, into rules: inout TimerRules
    ) -> Bool {
        if flags.contains(.maxFires) {
            guard let value = ByteCoding.readSigned(bytes, &offset) else { return false }
            rules.maxFires = value
        }
        if flags.contains(.until) {
            guard let value = ByteCoding.readSigned(bytes, &offset) else { return false }
            rules.until = value
        }
        if flags.contains(.retain) {
            guard let value = ByteCoding.readSigned(bytes, &offset) else { return false }
            rules.retain = value
        }
        if flags.contains(.leeway) {
            guard let value = ByteCoding.readSigned(bytes, &offset), value >= 0 else { return false }
            rules.leeway = value
        }
        if flags.contains(.jitter) {
            guard let value = ByteCoding.readSigned(bytes, &offset), value >= 0 else { return false }
            rules.jitter = value
        }
        if flags.contains(.misfireGrace) {
            guard let value = ByteCoding.readSigned(bytes, &offset) else { return false }
            rules.misfireGrace = value
        }
        if flags.contains(.misses) {
            guard let value = ByteCoding.readSigned(bytes, &offset), value > 0 else { return false }
            rules.misses = value
        }
        if flags.contains(.webhook) {
            guard let bits = ByteCoding.read(bytes, &offset).flatMap({ UInt32(exactly: $0) }) else { return false }
            rules.deliveries = EventTypes(rawValue: bits)
        }
        return true
    }

    private static func byte(_ bytes: Span<UInt8>, _ offset: inout Int) -> UInt8? {
        ByteCoding.readFixed(bytes, &offset, count: 1).map { UInt8($0) }
    }

    private static func schedule(
        _ bytes: Span<UInt8>, _ offset: inout Int, shape: UInt8, _ flags: Flags, _ cache: ScheduleCache?
    ) -> Schedule? {
        if flags.contains(.zoned) { return zoned(bytes, &offset, shape: shape, flags, cache) }
        if namesInstants(shape), !flags.contains(.rule) { return named(bytes, &offset, shape: shape, flags, cache) }
        guard flags.isDisjoint(with: [.from, .rule]), let first = ByteCoding.readSigned(bytes, &offset) else {
            return nil
        }
        switch shape {
        case 0: return .after(first)
        case 1: return .at(first)
        case 2 where first > 0: return .every(first, first: .period)
        case 3 where first > 0: return ByteCoding.readSigned(bytes, &offset).map { .every(first, first: .after($0)) }
        case gridShape where first > 0:
            return ByteCoding.readSigned(bytes, &offset).map { .every(first, first: .at($0)) }
        case watchdogShape where first > 0: return .watchdog(first)
        default: return nil
        }
    }

    private static func zoned(
        _ bytes: Span<UInt8>, _ offset: inout Int, shape: UInt8, _ flags: Flags, _ cache: ScheduleCache?
    ) -> Schedule? {
        guard let period = ByteCoding.readSigned(bytes, &offset), period > 0 else { return nil }
        switch shape {
        case watchdogShape:
            let shape = flags.contains(.rule) ? recurrenceShape : cronShape
            return named(bytes, &offset, shape: shape, flags, cache).map { .expecting($0, grace: period) }
        case gridShape
        where flags.isDisjoint(with: [.from, .rule]) && period % Schedule.day == 0
            && period <= TimerRules.longestDuration:
            guard let start = ByteCoding.readSigned(bytes, &offset), (-lastInstant...lastInstant).contains(start),
                let zone = run(bytes, &offset)
            else { return nil }
            return .every(period, first: .local(start, zone: [UInt8](copying: bytes.extracting(zone))))
        default: return nil
        }
    }

    /// Reads a schedule that names its instants, a cron or recurrence one.
    private static func named(
        _ bytes: Span<UInt8>, _ offset: inout Int, shape: UInt8, _ flags: Flags, _ cache: ScheduleCache?
    ) -> Schedule? {
        let start = offset
        let isRule = shape == recurrenceShape
        guard let text = run(bytes, &offset), let zone = run(bytes, &offset) else { return nil }
        var from: Int64?
        if flags.contains(.from) {
            guard let value = ByteCoding.readSigned(bytes, &offset) else { return nil }
            from = value
        }
        var dates: (added: Range<Int>, excluded: Range<Int>)?
        if isRule {
            guard let added = run(bytes, &offset), let excluded = run(bytes, &offset) else { return nil }
            dates = (added, excluded)
        }
        let run = bytes.extracting(start..<offset)
        if let known = cache?.find(shape, run) { return known }
        let (name, words) = ([UInt8](copying: bytes.extracting(zone)), [UInt8](copying: bytes.extracting(text)))
        let schedule: Schedule
        do {
            if let dates {
                let limit = RecurrenceSchedule.dateLimit
                guard let added = ByteCoding.instants(bytes.extracting(dates.added), atMost: limit),
                    let excluded = ByteCoding.instants(bytes.extracting(dates.excluded), atMost: limit)
                else { return nil }
                let recurrence = try RecurrenceSchedule(
                    words, zone: name, from: from, rdates: added, exdates: excluded)
                let table = cache?.zones.zone(named: name)
                schedule = .recurrence(table.map { recurrence.bounded(in: $0) } ?? recurrence)
            } else {
                schedule = .cron(try CronSchedule(words, zone: name, from: from, isStored: true))
            }
        } catch {
            return nil
        }
        cache?.keep(schedule, shape, run)
        return schedule
    }

    private static func run(_ bytes: Span<UInt8>, _ offset: inout Int) -> Range<Int>? {
        guard let count = ByteCoding.read(bytes, &offset), count <= UInt64(bytes.count - offset) else { return nil }
        let start = offset
        offset += Int(count)
        return start..<offset
    }
}
