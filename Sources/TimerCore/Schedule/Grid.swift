/// The due instants of one timer, in milliseconds on its clock: its rules, with the time zone and the calendar that they
/// name.
///
/// Fires, skips and previews all take their instants from here. A grid is moved, never copied: a copy would cost more than
/// most questions to it.
struct Grid: ~Copyable {
    private(set) var rules: TimerRules
    private var found: Found?

    /// The zone and the calendar that rules name, as found; in an object, since most rules name none, and a grid is moved
    /// more often than made.
    private final class Found: Sendable {
        let zone: TimeZoneTable?
        let local: LocalGrid?
        let shape: CalendarShape?

        init(_ zone: TimeZoneTable?, _ local: LocalGrid?, _ shape: CalendarShape?) {
            self.zone = zone
            self.local = local
            self.shape = shape
        }

        func with(_ local: LocalGrid?) -> Found { Found(zone, local, shape) }
    }

    /// The zone that the schedule names; nil for none, and for one that is not known.
    var zone: TimeZoneTable? { found?.zone }
    /// The instants of a grid that keeps a local time; nil for other schedules.
    var local: LocalGrid? { found?.local }
    /// The opening hours of the timer's calendar; nil for none, and for one that is not there.
    var shape: CalendarShape? { found?.shape }

    // Inlined, and the rules moved: a grid is made for every change of a timer, and copies would cost more than the rest.
    @inline(__always)
    init(_ rules: consuming TimerRules, _ book: CalendarBook) {
        found = rules.calendar == nil && !rules.schedule.namesZone ? nil : Self.found(rules, book)
        self.rules = rules
    }

    private init(_ rules: TimerRules, _ found: Found?) {
        self.rules = rules
        self.found = found
    }

    /// Makes the due instants of a timer with that progress, as a client may have moved its grid.
    @inline(__always)
    init(_ rules: consuming TimerRules, _ book: CalendarBook, _ progress: borrowing TimerProgress) {
        self.init(rules, book)
        if progress.flags.contains(.ownGrid) {
            goOn(from: progress.due, isInGap: progress.flags.contains(.readInGap))
        }
    }

    /// Finds the zone and the calendar that rules name.
    private static func found(_ rules: borrowing TimerRules, _ book: CalendarBook) -> Found {
        let zone = rules.schedule.zone.flatMap { book.zones.zone(named: $0) }
        if rules.calendar != nil { return Found(zone, nil, book.shape(copy rules, in: zone)) }
        if case .every(let period, first: .local(let start, _)) = rules.schedule, let zone {
            return Found(zone, LocalGrid(through: start, period: period, in: zone), nil)
        }
        return Found(zone, nil, nil)
    }

    /// Makes the due instants by other opening hours.
    ///
    /// - Parameter misses: the number of instants that a watchdog awaits; nil for that of its rules.
    init(_ grid: borrowing Grid, by hours: OpenHours, misses: Int64? = nil) {
        var rules = grid.rules
        if let misses { rules.misses = misses }
        self.rules = rules
        let shape = CalendarShape(rules, rules.calendar?.onClosed ?? .skip, hours, edition: 0, in: grid.zone)
        found = Found(grid.zone, grid.local, shape)
    }

    /// Takes instants of the schedule out of it, as they are spent.
    mutating func spend(_ spent: SpentInstants) {
        guard var calendar = rules.calendar else { return }
        // Swift 6.3 would not release the array before, were it replaced in place in an optional of a noncopyable type.
        calendar.spent = spent
        rules.calendar = calendar
        guard let shape else { return }
        found = Found(
            zone, local, CalendarShape(rules, calendar.onClosed, shape.hours, edition: shape.edition, in: zone))
    }

    /// Moves a grid that keeps a local time, so that it goes on from `due`.
    ///
    /// - Parameter isInGap: whether `due` is the instant of a local time that the clocks leave out.
    mutating func goOn(from due: Int64, isInGap: Bool = false) {
        if let local { found = found?.with(local.through(due, isInGap: isInGap)) }
    }

    /// Returns the grid as it goes on from `due`.
    func goingOn(from due: Int64) -> Grid {
        var grid = Grid(rules, found)
        grid.goOn(from: due)
        return grid
    }

    /// Whether the schedule, or its shape by a calendar, names the due instants, so that they do not move with `due`.
    var namesInstants: Bool { rules.schedule.namesInstants || (shape?.instants != nil && rules.grace == nil) }

    /// The milliseconds between due instants; 0 if they are not evenly spaced, or there is only one.
    private var period: Int64 {
        switch rules.schedule {
        case .every(let period, _): period
        case .watchdog(let period) where rules.repeatAlarm: period
        case .after, .at, .cron, .recurrence, .watchdog, .expecting: 0
        }
    }

    /// Returns the first due instant of a timer activated at `now`; nil when there is none.
    func first(activatedAt now: Now) -> Int64? {
        let clock = rules.clock
        switch rules.schedule {
        case .after(let delay), .every(let delay, first: .period), .every(_, first: .after(let delay)):
            return instant(after: delay, from: now.ceiling(on: clock))
        case .at(let instant):
            guard rules.calendar != nil else { return instant }
            // An instant that was still to come when it was moved into the past is dropped.
            let moved = shape?.moved(instant)
            return instant >= now.ceiling(on: clock) && moved ?? .max < now.ceiling(on: clock) ? nil : moved
        case .every where rules.calendar != nil:
            return expected(after: now.ceiling(on: clock) - 1)
        case .every(let period, first: .at(let start)):
            let earliest = now.ceiling(on: clock)
            return start >= earliest ? start : start - floorDivide(start - earliest, period) * period
        case .every(_, first: .local(let start, _)):
            let earliest = now.ceiling(on: clock)
            return start >= earliest ? start : local?.next(after: earliest - 1)
        case .cron, .recurrence:
            // The instant at which a schedule begins with this step is one of its own.
            return expected(after: rules.schedule.from == now.wall ? now.wall - 1 : now.wall)
        case .watchdog:
            return now.ceiling(on: clock) + rules.silence
        case .expecting:
            return awaited(after: now.wall)
        }
    }

    /// The due instant of a timer that has none after a change of its calendar: after all that can be shown.
    static let never = lastInstant + 1

    /// Returns the instant to which a client's `at` moves the next fire: working time ends in open time.
    func opening(_ instant: Int64) -> Int64 {
        guard rules.clock == .working, let hours = shape?.hours else { return instant }
        return hours.nextOpening(atOrAfter: instant) ?? Self.never
    }

    /// Returns the instant at which a duration is over that begins at `start`, both on the timer's clock; nil when that
    /// is after the year 9999, and for working time without a calendar.
    func instant(after duration: Int64, from start: Int64) -> Int64? {
        rules.clock == .working ? shape?.hours.due(after: duration, from: start) : start + duration
    }

    /// Returns the instant at which a duration is over that is planned at `start`, both on the timer's clock. Working time that
    /// the year 9999 does not have is over beyond it, and the timer shows no next fire.
    func end(of duration: Int64, from start: Int64) -> Int64 {
        rules.clock == .working ? shape?.hours.end(of: duration, from: start) ?? Self.never : start + duration
    }

    /// Returns the milliseconds left until `due` on the timer's clock: see `Now.millisecondsLeft`.
    func millisecondsLeft(until due: Int64, at now: Now) -> Int64 {
        guard rules.clock == .working, let hours = shape?.hours else {
            return now.millisecondsLeft(until: due, on: rules.clock)
        }
        let start = now.ceiling(on: .working)
        return due > start ? hours.left(until: due, from: start) : 0
    }

    /// Returns the time left until `due` in the form in which a suspended timer keeps it: in microseconds.
    func remaining(until due: Int64, at now: Now) -> Int64 { millisecondsLeft(until: due, at: now) * 1000 }

    /// Returns the due instant `microseconds` from now, rounded up to a millisecond on the timer's clock.
    func due(after microseconds: Int64, _ now: Now) -> Int64 {
        let nowUs = -floorDivide(-now.nanoseconds(on: rules.clock), 1000)
        guard rules.clock == .working else { return -floorDivide(-(nowUs + microseconds), 1000) }
        let start = floorDivide(nowUs, 1000)
        let begun = shape?.hours.isOpen(at: start) ?? false ? nowUs - start * 1000 : 0
        return end(of: -floorDivide(-(microseconds + begun), 1000), from: start)
    }

    /// Returns the due instant after the one at `due`, which fires at `now`; nil when none follows.
    func following(_ due: Int64, _ now: Now) -> Int64? {
        afterwards(rules.mode == .fixedRate ? due : now.ceiling(on: rules.clock))
    }

    /// Returns the nominal instant after `due`, as if each fire were on time; for a watchdog that has a schedule,
    /// the expected instant after `due`.
    func afterwards(_ due: Int64) -> Int64? {
        if let local { return (rules.mode == .fixedRate ? local : local.through(due)).next(after: due) }
        if namesInstants {
            return rules.mode == .fixedRate ? expected(after: due) : shape?.goingOn(after: due)?.next(after: due)
        }
        switch rules.schedule {
        case .cron, .recurrence, .expecting: return expected(after: due)
        case .after, .at, .every, .watchdog: return period > 0 ? instant(after: period, from: due) : nil
        }
    }

    /// Returns the latest due instant from `due`, itself one, through `end`, and how many lie before it. A
    /// fixed-delay schedule has only `due` until it fires.
    func latest(from due: Int64, through end: Int64) -> (due: Int64, before: Int64) {
        guard end > due, rules.mode == .fixedRate else { return (due, 0) }
        if namesInstants { return expected(after: due, through: end).map { ($0.instant, $0.count) } ?? (due, 0) }
        guard period > 0 else { return (due, 0) }
        if let local {
            let last = local.point(through: end)
            return (local.instant(of: last), last - local.point(through: due))
        }
        if rules.clock == .working {
            let before = (shape?.hours.elapsed(from: due, to: end) ?? 0) / period
            return (instant(after: before * period, from: due) ?? due, before)
        }
        let before = (end - due) / period
        return (due + before * period, before)
    }

    /// Returns the first due instant that a misfire policy keeps of those from `due` through `last`, and how many
    /// it drops. `before` of them lie before `last`.
    ///
    /// - Parameters:
    ///   - oldest: the instant before which due instants are dropped, but never `last`.
    ///   - most: the number of due instants, the latest, that are kept at the most; at least 1.
    func kept(
        from due: Int64, last: Int64, before: Int64, notBefore oldest: Int64, most: Int64
    ) -> (due: Int64, dropped: Int64) {
        if before < most, oldest <= due { return (due, 0) }
        guard before > 0 else { return (due, 0) }
        if let local {
            let first = local.point(through: due)
            let old = oldest > due ? local.point(through: oldest - 1) + 1 - first : 0
            let dropped = min(before, max(old, before + 1 - most, 0))
            return (local.instant(of: first + dropped), dropped)
        }
        if rules.clock == .working, period > 0 {
            let past = oldest > due ? (shape?.hours.elapsed(from: due, to: oldest - 1) ?? 0) / period + 1 : 0
            let dropped = min(before, max(past, before + 1 - most, 0))
            return (instant(after: dropped * period, from: due) ?? due, dropped)
        }
        if period > 0 && !namesInstants {
            let old = oldest > due ? -floorDivide(due - oldest, period) : 0
            let dropped = min(before, max(old, before + 1 - most, 0))
            return (due + dropped * period, dropped)
        }
        guard namesInstants else { return (due, 0) }
        // A binary search for the earliest instant that at most `most` due instants follow, up to `last`: the further
        // back, the more follow.
        var low = max(due, oldest) - 1
        var high = last - 1
        while low < high {
            let middle = low + (high - low) / 2
            let count = expected(after: middle, through: last)?.count ?? 0
            // The same instant comes first after any such place.
            if count == most { low = middle }
            if count <= most { high = middle } else { low = middle + 1 }
        }
        // `due` itself counts too if a client had moved it off the calendar's instants.
        if low < due && before < most { return (due, 0) }
        guard let first = expected(after: max(low, due)) else { return (due, 0) }
        let after = expected(after: first, through: last)?.count ?? 0
        return (first, before - after)
    }

    /// Returns the instant at which the fire due at `due` is planned: delayed by its jitter, then rounded up so
    /// that fires share wake-ups.
    ///
    /// The instant planned is, of those that the leeway allows, the multiple of the greatest power of two.
    ///
    /// - Parameter definition: the timer's definition, whose name makes the jitter differ from that of other timers.
    func planned(_ due: Int64, _ definition: Span<UInt8>) -> Int64 {
        var instant = due
        if rules.jitter > 0 {
            let name = definition.extracting(0..<Definition.nameCount(definition))
            instant += Self.jitter(name, due, below: rules.jitter)
        }
        guard rules.leeway > 0 else { return instant }
        let latest = instant + rules.leeway
        let differing = UInt64(bitPattern: (instant - 1) ^ latest)
        let bit = Int64(63 - differing.leadingZeroBitCount)
        return (latest >> bit) << bit
    }

    /// Returns a hash of the timer's name and the due instant, the same for ever, spread evenly over 0 ..< `bound`.
    static func jitter(_ name: Span<UInt8>, _ due: Int64, below bound: Int64) -> Int64 {
        let hash = SipHash(secret: []).hash(name, tweak: UInt64(bitPattern: due))
        return Int64(hash.multipliedFullWidth(by: UInt64(bound)).high)
    }
}

/// Instants whole days apart by the clocks of a time zone, in wall milliseconds: each has the local time of the first.
///
/// By RFC 5545, 3.3.5, a local time that the clocks leave out is read with the offset before they change, and one
/// that comes twice is the first of the two.
///
/// The grid is an object, so that a `Grid` without one, as most are, is small to copy.
final class LocalGrid: Sendable {
    /// The instant of point 0.
    let start: Int64
    /// The local time of point 0, in milliseconds.
    private let localStart: Int64
    /// Milliseconds between two points, whole days.
    private let period: Int64
    private let zone: TimeZoneTable

    /// - Parameters:
    ///   - start: any instant of the grid.
    ///   - isInGap: whether `start` is the instant of a local time that the clocks leave out.
    init(through start: Int64, isInGap: Bool = false, period: Int64, in zone: TimeZoneTable) {
        self.start = start
        self.period = period
        self.zone = zone
        let second = floorDivide(start, 1000)
        let offset = isInGap ? zone.offset(beforeChangeAt: second) : zone.offset(at: second)
        localStart = start + offset * 1000
    }

    /// Returns the grid of the same period through another instant.
    func through(_ instant: Int64, isInGap: Bool = false) -> LocalGrid {
        LocalGrid(through: instant, isInGap: isInGap, period: period, in: zone)
    }

    /// Returns the instant of a point.
    func instant(of point: Int64) -> Int64 {
        if point == 0 { return start }
        let local = localStart + point * period
        let second = floorDivide(local, 1000)
        return zone.instant(ofLocal: second) * 1000 + (local - second * 1000)
    }

    /// Returns the last point at or before an instant.
    func point(through instant: Int64) -> Int64 {
        let local = instant + zone.offset(at: floorDivide(instant, 1000)) * 1000
        // Two changes of offset (that by which a local time is read, and that of the instant) move a point by less
        // than two days, and a period is at least one.
        var point = floorDivide(local - localStart, period) + 2
        while self.instant(of: point) > instant { point -= 1 }
        return point
    }

    /// Returns the first instant of the grid after `instant`.
    func next(after instant: Int64) -> Int64 { self.instant(of: point(through: instant) + 1) }

    /// Whether an instant is one of the grid's.
    func contains(_ instant: Int64) -> Bool { self.instant(of: point(through: instant)) == instant }

    /// Whether an instant of the grid is that of a local time that the clocks leave out.
    func isInGap(_ instant: Int64) -> Bool {
        let local = localStart + point(through: instant) * period
        return instant + zone.offset(at: floorDivide(instant, 1000)) * 1000 != local
    }
}
