/// The nominal instants of a schedule that is tied to the calendar, but for those that are spent. The `from` of a cron schedule is
/// not the source's business: it judges the moved instants.
struct ScheduleInstants: NominalInstants {
    private enum Source: Sendable {
        case cron(CronSchedule, TimeZoneTable)
        case recurrence(RecurrenceSchedule, TimeZoneTable)
        case even(start: Int64, period: Int64)
        case local(LocalGrid, start: Int64)
    }

    private let source: Source
    private let spent: SpentInstants

    /// Nil for a schedule that has no such instants, or only one, and for one whose zone is not known.
    ///
    /// - Parameter zone: the zone that the schedule names; nil for none.
    init?(_ schedule: Schedule, in zone: TimeZoneTable?, spent: SpentInstants = SpentInstants()) {
        self.spent = spent
        switch (schedule.awaited, zone) {
        case (.cron(let cron), let zone?): source = .cron(cron.starting(from: nil), zone)
        case (.recurrence(let recurrence), let zone?): source = .recurrence(recurrence, zone)
        case (.every(let period, first: .at(let start)), _): source = .even(start: start, period: period)
        case (.every(let period, first: .local(let start, _)), let zone?):
            source = .local(LocalGrid(through: start, period: period, in: zone), start: start)
        default: return nil
        }
    }

    private init(_ source: Source) {
        self.source = source
        spent = SpentInstants()
    }

    /// Returns the instants of a grid that goes on a period after another one, none of which is spent; nil for other schedules.
    func goingOn(after instant: Int64) -> ScheduleInstants? {
        switch source {
        case .cron, .recurrence: return nil
        case .even(_, let period): return ScheduleInstants(.even(start: instant + period, period: period))
        case .local(let grid, _):
            let grid = grid.through(instant)
            return ScheduleInstants(.local(grid, start: grid.next(after: instant)))
        }
    }

    func next(after instant: Int64) -> Int64? { spent.next(after: instant, named(after:)) }

    func latest(after start: Int64, through end: Int64) -> (instant: Int64, count: Int64)? {
        spent.latest(after: start, through: end, latestNamed(after:through:))
    }

    /// Returns the first instant after `instant` that the schedule names, spent or not; nil when none follows.
    private func named(after instant: Int64) -> Int64? {
        switch source {
        case .cron(let schedule, let zone): return schedule.next(after: instant, in: zone)
        case .recurrence(let schedule, let zone): return schedule.next(after: instant, in: zone)
        case .even(let start, let period):
            return instant < start ? start : start + (floorDivide(instant - start, period) + 1) * period
        case .local(let grid, let start): return instant < start ? start : grid.next(after: instant)
        }
    }

    private func latestNamed(after start: Int64, through end: Int64) -> (instant: Int64, count: Int64)? {
        switch source {
        case .cron(let schedule, let zone): return schedule.latest(after: start, through: end, in: zone)
        case .recurrence(let schedule, let zone): return schedule.latest(after: start, through: end, in: zone)
        case .even, .local:
            guard let first = named(after: start), first <= end else { return nil }
            return lastOfGrid(from: first, through: end)
        }
    }

    private func lastOfGrid(from first: Int64, through end: Int64) -> (instant: Int64, count: Int64) {
        switch source {
        case .cron, .recurrence: return (first, 1)
        case .even(_, let period):
            let further = (end - first) / period
            return (first + further * period, further + 1)
        case .local(let grid, _):
            let last = grid.point(through: end)
            return (grid.instant(of: last), last - grid.point(through: first) + 1)
        }
    }
}

/// The opening hours by which a timer is planned.
final class CalendarShape: Sendable {
    /// The hours.
    let hours: OpenHours
    /// Their edition.
    let edition: UInt8
    /// The due instants of a schedule that is tied to the calendar; nil for a timer that counts working time, and for a
    /// schedule of one instant.
    let instants: ShapedSchedule<ScheduleInstants>?
    private let policy: ClosedPolicy
    private let zone: TimeZoneTable

    /// - Parameter zone: the zone that the schedule names; nil for none.
    init(_ rules: TimerRules, _ policy: ClosedPolicy, _ hours: OpenHours, edition: UInt8, in zone: TimeZoneTable?) {
        self.hours = hours
        self.edition = edition
        self.policy = policy
        self.zone = zone ?? hours.zone
        let spent = rules.calendar?.spent ?? SpentInstants()
        var instants = ScheduleInstants(rules.schedule, in: zone, spent: spent).map {
            ShapedSchedule(source: $0, hours: hours, policy: policy, zone: zone ?? hours.zone)
        }
        instants?.from = rules.schedule.earliest
        self.instants = instants
    }

    /// Returns the instants of a grid that goes on a period after another one; nil for a schedule that is no grid.
    func goingOn(after instant: Int64) -> ShapedSchedule<ScheduleInstants>? {
        guard let instants, let source = instants.source.goingOn(after: instant) else { return nil }
        return ShapedSchedule(source: source, hours: hours, policy: policy, zone: zone)
    }

    /// Returns the due instant of a schedule of one instant; nil if it is dropped.
    func moved(_ instant: Int64) -> Int64? { hours.moved(instant, by: policy, in: zone) }
}

extension Schedule {
    /// The instant before which no moved instant is due; nil for none.
    fileprivate var earliest: Int64? {
        guard case .recurrence(let recurrence) = awaited else { return from }
        return min(recurrence.from, recurrence.rdates.first ?? recurrence.from)
    }
}
