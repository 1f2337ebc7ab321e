import TimerCore

/// The fields of a create that depend on each other: those of the schedule, and those that only some kinds use. An
/// absent field is nil.
struct ScheduleFields {
    var after: Int64?
    var at: Int64?
    var every: Int64?
    var cron: [UInt8]?
    var rrule: [UInt8]?
    var rdates: [Int64]?
    var exdates: [Int64]?
    var watchdog: Int64?
    var timeZone: [UInt8]?
    var from: Int64?
    var calendar: CalendarName?
    var onClosed: ClosedPolicy?
    /// Whether `after` and `every` were written with days, which no working time has.
    var inDays = (after: false, every: false)
    var clock: TimerClock?
    var mode: RepeatMode?
    var onResume: ResumePolicy?
    var misfire: MisfirePolicy?
    var misfireGrace: Int64?
    var misses: Int64?
    var repeatAlarm: Bool?

    /// The most instants in a row that a watchdog with a calendar may miss: each is looked for by itself.
    private static let mostMisses = 32
    /// The time zone of a cron expression or a recurrence rule that names none.
    static let defaultZone = Array("UTC".utf8)

    /// Sets the part of a timer's rules that these fields decide.
    ///
    /// - Parameters:
    ///   - isStored: whether a server accepted all of the fields before, by rules that may have been looser.
    ///   - isInherited: whether a field comes from the timer that is being patched. Such a field is dropped if the kind
    ///     does not use it; a field that the request names is refused then.
    func decide(
        _ rules: inout TimerRules, zones: any ZoneSource, isStored: Bool, isInherited: (StaticString) -> Bool
    ) throws(Problem) {
        let schedule = try schedule(zones, isStored: isStored, isInherited: isInherited)
        rules.schedule = schedule
        rules.clock = schedule.defaultClock
        let kind = schedule.kind
        /// Whether a field is to be taken over: the kind uses it, and it is not at its default.
        func counts(
            _ name: StaticString, _ isGiven: Bool, usedBy isUser: Bool, _ detail: String
        ) throws(Problem) -> Bool {
            guard isGiven, !isUser else { return isGiven }
            if isInherited(name) { return false }
            throw Problem(.invalidSchedule, detail, pointer: "/\(name)")
        }
        if let clock,
            try counts(
                "clock", clock != schedule.defaultClock, usedBy: !rules.hasCalendarInstants,
                rules.grace == nil
                    ? "a schedule with `at`, `cron` or `rrule` runs on the wall clock"
                    : "the grace of a `watchdog` with `cron` or `rrule` counts on the suspending clock")
        {
            rules.clock = clock
        }
        if let mode, try counts("mode", mode != .fixedRate, usedBy: kind == .repeating, "`mode` is for `every`") {
            rules.mode = mode
        }
        // The schedule has taken these two already.
        _ = try counts(
            "timeZone", timeZone.map { $0 != Self.defaultZone } ?? false,
            usedBy: cron != nil || rrule != nil || every != nil && at != nil,
            "`timeZone` is for `cron` and `rrule`, and for `every` with `at`")
        _ = try counts("from", from != nil, usedBy: cron != nil || rrule != nil, "`from` is for `cron` and `rrule`")
        _ = try counts("rdates", !(rdates ?? []).isEmpty, usedBy: rrule != nil, "`rdates` is for `rrule`")
        _ = try counts("exdates", !(exdates ?? []).isEmpty, usedBy: rrule != nil, "`exdates` is for `rrule`")
        let isWatchdog = kind == .watchdog
        if let misses, try counts("misses", misses != 1, usedBy: isWatchdog, "`misses` is for `watchdog`") {
            rules.misses = misses
        }
        if try counts("repeatAlarm", repeatAlarm ?? false, usedBy: isWatchdog, "`repeatAlarm` is for `watchdog`") {
            rules.repeatAlarm = true
        }
        if let onResume,
            try counts(
                "onResume", onResume != .remaining, usedBy: !isWatchdog, "a watchdog resumes with its full period")
        {
            rules.onResume = onResume
        }
        if let misfire,
            try counts(
                "misfire", misfire != .once, usedBy: !isWatchdog, "a watchdog has no due instants to miss")
        {
            rules.misfire = misfire
        }
        if try counts(
            "misfireGrace", misfireGrace != nil, usedBy: !isWatchdog, "a watchdog has no due instants to miss")
        {
            rules.misfireGrace = misfireGrace
        }
        try checkMissedPeriods(rules)
        try decideCalendar(&rules, isInherited)
    }

    /// Sets the calendar that a timer goes by.
    private func decideCalendar(
        _ rules: inout TimerRules, _ isInherited: (StaticString) -> Bool
    ) throws(Problem) {
        let isWorking = rules.clock == .working
        if isWorking {
            guard rules.schedule.kind != .watchdog else {
                throw Problem(
                    .invalidSchedule, "a `watchdog` counts no working time: give it a `cron` or an `rrule`",
                    pointer: "/clock")
            }
            guard calendar != nil else {
                throw Problem(.invalidSchedule, "`clock: working` needs a `calendar`", pointer: "/calendar")
            }
            let fields: [(name: StaticString, isInDays: Bool)] = [("after", inDays.after), ("every", inDays.every)]
            for (name, isInDays) in fields where isInDays && !isInherited(name) {
                throw Problem(
                    .invalidSchedule, "working time has no days, whose length the calendar would decide: write hours",
                    pointer: "/\(name)")
            }
        }
        let usual = rules.usualOnClosed
        var policy = onClosed ?? usual
        if !rules.hasCalendarInstants || calendar == nil, policy != usual {
            guard isInherited("onClosed") else {
                throw Problem(
                    .invalidSchedule, "`onClosed` is for a `calendar` beside `at`, `cron` or `rrule`",
                    pointer: "/onClosed")
            }
            policy = usual
        }
        guard let calendar else { return }
        guard isWorking || rules.hasCalendarInstants else {
            if isInherited("calendar") { return }
            throw Problem(
                .invalidSchedule, "`calendar` is for `clock: working`, and for a schedule with `at`, `cron` or `rrule`",
                pointer: "/calendar")
        }
        if usual == .next, policy == .skip {
            guard isInherited("onClosed") else {
                throw Problem(
                    .invalidSchedule, "an `at` that is skipped would never fire", pointer: "/onClosed")
            }
            policy = usual
        }
        guard rules.misses <= Self.mostMisses else {
            throw Problem(.invalidSchedule, "with a `calendar` at most \(Self.mostMisses)", pointer: "/misses")
        }
        rules.calendar = CalendarRule(calendar, onClosed: policy)
    }

    /// Checks that all periods that a watchdog may miss are together no longer than the longest duration.
    private func checkMissedPeriods(_ rules: TimerRules) throws(Problem) {
        guard let watchdog, rules.grace == nil, rules.misses > TimerRules.longestDuration / watchdog else { return }
        throw Problem(.invalidSchedule, "`misses` periods are together at most 36525d", pointer: "/misses")
    }

    private func schedule(
        _ zones: any ZoneSource, isStored: Bool, isInherited: (StaticString) -> Bool
    ) throws(Problem) -> Schedule {
        if let named = try named(zones, isStored: isStored, isInherited: isInherited) {
            return watchdog.map { .expecting(named, grace: $0) } ?? named
        }
        if let watchdog {
            try requireAlone("watchdog")
            return .watchdog(watchdog)
        }
        switch (after, at, every) {
        case (nil, nil, nil):
            throw Problem(
                .invalidSchedule, "one of `after`, `at`, `every`, `cron`, `rrule`, `watchdog` is needed", pointer: "")
        case (let delay?, nil, nil): return .after(delay)
        case (nil, let instant?, nil): return .at(instant)
        case (nil, nil, let period?): return .every(period, first: .period)
        case (let delay?, nil, let period?): return .every(period, first: .after(delay))
        case (nil, let instant?, let period?):
            return .every(period, first: try gridStart(instant, period, zones, isInherited))
        default:
            throw Problem(.invalidSchedule, "`after` and `at` exclude each other", pointer: "/at")
        }
    }

    /// Returns the schedule that names its instants, by `cron` or `rrule`; nil where there is neither.
    private func named(
        _ zones: any ZoneSource, isStored: Bool, isInherited: (StaticString) -> Bool
    ) throws(Problem) -> Schedule? {
        if let cron {
            guard rrule == nil else {
                throw Problem(.invalidSchedule, "`cron` and `rrule` exclude each other", pointer: "/cron")
            }
            try requireAlone("cron")
            return .cron(try cronSchedule(cron, zones, isStored: isStored || isInherited("cron")))
        }
        guard let rrule else { return nil }
        try requireAlone("rrule")
        return .recurrence(try recurrenceSchedule(rrule, zones))
    }

    /// Refuses a duration or an instant beside the field `name`.
    private func requireAlone(_ name: StaticString) throws(Problem) {
        let others: [(name: StaticString, value: Int64?)] = [("after", after), ("at", at), ("every", every)]
        for other in others where other.value != nil {
            throw Problem(
                .invalidSchedule, "`\(name)` and `\(other.name)` exclude each other", pointer: "/\(name)")
        }
    }

    /// Returns the start of a grid, which keeps its local time with a time zone other than UTC.
    private func gridStart(
        _ instant: Int64, _ period: Int64, _ zones: any ZoneSource, _ isInherited: (StaticString) -> Bool
    ) throws(Problem) -> Schedule.First {
        guard let zone = timeZone, zone != Self.defaultZone else { return .at(instant) }
        try requireZone(zone, zones)
        guard period % Schedule.day == 0 else {
            let rule = "with a `timeZone`, `every` must be whole days: its grid keeps the local time of `at`"
            guard isInherited("timeZone") else {
                throw Problem(.invalidSchedule, rule, pointer: isInherited("every") ? "/timeZone" : "/every")
            }
            let name = String(decoding: zone, as: UTF8.self)
            throw Problem(
                .invalidSchedule, "\(rule). The patch leaves the timer's \(name); `\"timeZone\": null` removes it",
                pointer: "/every")
        }
        return .local(instant, zone: zone)
    }

    private func requireZone(_ zone: [UInt8], _ zones: any ZoneSource) throws(Problem) {
        guard !zones.offers(zone) else { return }
        throw Problem(.invalidSchedule, UnknownZone(zone, in: zones).message, pointer: "/timeZone")
    }

    private func cronSchedule(
        _ text: [UInt8], _ zones: any ZoneSource, isStored: Bool
    ) throws(Problem) -> CronSchedule {
        let zone = timeZone ?? Self.defaultZone
        try requireZone(zone, zones)
        do throws(CronError) {
            return try CronSchedule(text, zone: zone, from: from, isStored: isStored)
        } catch {
            throw Problem(.invalidSchedule, error.message, pointer: "/cron")
        }
    }

    /// Returns the recurrence, which starts with the step that takes it unless `from` is given.
    private func recurrenceSchedule(_ text: [UInt8], _ zones: any ZoneSource) throws(Problem) -> RecurrenceSchedule {
        let zone = timeZone ?? Self.defaultZone
        try requireZone(zone, zones)
        do throws(RecurrenceError) {
            let schedule = try RecurrenceSchedule(
                text, zone: zone, from: from, rdates: rdates ?? [],
                exdates: exdates ?? [])
            // Here, as the engine's lock is not held.
            return zones.zone(named: zone).map { schedule.bounded(in: $0) } ?? schedule
        } catch {
            throw Problem(.invalidSchedule, error.message, pointer: "/rrule")
        }
    }
}
