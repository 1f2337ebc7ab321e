import Webhooks

@testable import TimerCore

/// The milliseconds for which a watchdog was stalled, and for which it was silent.
typealias ModelStall = (stalledFor: Int64, silentFor: Int64)

/// A timer as the contract describes it, computed the plain way.
struct ModelTimer {
    let id: String
    /// The encoded definition, as the server should hold it.
    var definition: [UInt8]
    var rules: TimerRules
    var progress: TimerProgress
    var kicks: KickProgress?
    /// The opening hours of its calendar as they are; nil without one.
    var hours: ModelHours?
    /// The due instant of the newest record.
    var recordedDue: Int64 = 0
    /// Whether a command planned the next fire into the past, so that it is due at once and not missed.
    var isDueAtOnce = false
    /// The first due instant since a command last planned the timer, and the numbers of instants from it on that
    /// fired and that were missed.
    var gridStart: Int64 = 0
    var gridFires: Int64 = 0
    var gridMissed: Int64 = 0
    /// The due instant, on its clock, of the last fire since a command planned.
    var lastDue: Int64?
    /// The moment at which the next fire was planned: nanoseconds of uptime, and milliseconds on the timer's clock.
    var plannedAt: (uptime: Int64, instant: Int64) = (0, 0)
    /// The uptime in nanoseconds before which records that are lost by now may have kept the server from watching
    /// the timer.
    var watchedFrom: Int64 = 0
    /// The number of crashes and stalls since the next fire was planned; each may leave some uptime uncounted.
    var hiccups: Int64 = 0

    var isWatchdog: Bool { rules.schedule.kind == .watchdog }

    /// Milliseconds from one due instant to the next, nil where there is but one.
    var period: Int64? {
        switch rules.schedule {
        case .every(let period, _): period
        case .watchdog(let period): rules.repeatAlarm ? period : nil
        case .after, .at, .cron, .recurrence, .expecting: nil
        }
    }

    /// The period of a cron or recurrence schedule, which is due on every whole multiple of so many milliseconds; nil
    /// for other schedules.
    var namedPeriod: Int64? {
        switch rules.schedule {
        case .cron(let cron): RandomRules.crons.first { Array($0.text.utf8) == cron.text }?.period
        case .recurrence(let rule): RandomRules.recurrences.first { Array($0.text.utf8) == rule.text }?.period
        case .after, .at, .every, .watchdog, .expecting: nil
        }
    }

    /// The due instant `count` after the one at `due`.
    func instant(_ count: Int64, after due: Int64) -> Int64 {
        guard let namedPeriod, count > 0 else {
            return instant(afterDuration: count * (period ?? 0), from: due) ?? Grid.never
        }
        return (floorDivide(due, namedPeriod) + count) * namedPeriod
    }

    /// The number of due instants from `due` on that lie before `end`.
    func count(from due: Int64, before end: Int64) -> Int64 {
        guard end > due else { return 0 }
        if let namedPeriod { return 1 + floorDivide(end - 1, namedPeriod) - floorDivide(due, namedPeriod) }
        return period.map { 1 + counted(from: due, to: end - 1) / $0 } ?? 1
    }

    /// The least delay of the fire due at `due`.
    func jitter(_ due: Int64) -> Int64 {
        guard rules.jitter > 0 else { return 0 }
        let name = definition.span.extracting(0..<Definition.nameCount(definition.span))
        return Grid.jitter(name, due, below: rules.jitter)
    }

    /// Whether a changed calendar moved `due`, which no record shows yet.
    var waitsForReplan: Bool { progress.due != recordedDue }

    /// Whether `event` has the timer's progress, as it is or as it was before a changed calendar moved it.
    func isRecorded(as event: ModelEvent) -> Bool {
        var recorded = progress
        if recorded != event.progress { recorded.due = recordedDue }
        return recorded == event.progress && kicks == event.kicks
    }

    /// The instant at which the server plans to fire, between the bounds that jitter and leeway give.
    var planned: Int64 { Grid(rules, CalendarBook(UTCOnly())).planned(progress.due, definition.span) }

    var earliest: Int64 { progress.due + jitter(progress.due) }
    var latest: Int64 { earliest + rules.leeway }

    /// Whether no fire may be due at `due` any more.
    func isPast(_ due: Int64, _ now: Now) -> Bool {
        guard let until = rules.until else { return false }
        return now.wall(of: due, on: rules.clock) > until
    }

    func isOver(_ now: Now) -> Bool { rules.until.map { $0 <= now.wall } ?? false }

    /// Clears the flags but for the stop by a webhook's receiver: a watchdog is well, and nothing is moved.
    mutating func forgetPlan(_ now: Now) {
        progress.flags.formIntersection(.webhookStopped)
        beginSilence(now)
    }

    /// Ends a watchdog's stall; without any kick so far it is silent from now on.
    mutating func beginSilence(_ now: Now) {
        kicks?.stalledSince = 0
        if kicks?.kickCount == 0 { kicks?.silentSince = now.wall }
    }

    /// The watchdog's stall, if that ends now; nil if it is not stalled.
    func stall(_ now: Now) -> ModelStall? {
        guard progress.flags.contains(.stalled), let kicks else { return nil }
        let stalledFor = max(0, now.down(rules.clock) - kicks.stalledSince)
        return (stalledFor, max(stalledFor, now.wall - kicks.silentSince))
    }

    /// The webhook that the timer's events go to.
    var webhook: WebhookConfiguration? {
        guard let webhook = Definition.layout(definition.span)?.webhook else { return nil }
        return WebhookConfiguration(definition.span.extracting(webhook))
    }

    /// The part that every event shows: the id and the labels, encoded.
    var prefix: [UInt8] { Array(definition.prefix(Definition.prefixCount(definition.span) ?? 0)) }

    /// Whether the timer carries the label, given in its encoded form.
    func carries(_ label: [UInt8]) -> Bool {
        let end = Definition.labels(definition.span)
        var offset = end.lowerBound
        while offset < end.upperBound {
            let start = offset
            guard Definition.nextLabel(definition.span, &offset, end: end.upperBound) != nil else { return false }
            if definition[start..<offset].elementsEqual(label) { return true }
        }
        return false
    }

    var isSpent: Bool { rules.maxFires.map { $0 <= progress.firesSinceActivation } ?? false }

    /// The due instant a full period from now; nil when there is none within `until`.
    func first(_ now: Now) -> Int64? {
        let begun = now.up(rules.clock)
        let due: Int64?
        switch rules.schedule {
        case .after(let delay), .every(let delay, first: .period), .every(_, first: .after(let delay)):
            due = instant(afterDuration: delay, from: begun)
        case .at(let instant): due = opening(instant)
        case .every(_, first: .local), .expecting: preconditionFailure("histories have no such timers")
        case .every(let period, first: .at(let start)):
            due = start >= begun ? start : start + (begun - start + period - 1) / period * period
        case .watchdog(let period): due = begun + min(period * rules.misses, 36_525 * 86_400_000)
        case .cron, .recurrence: due = instant(1, after: now.down(.wall))
        }
        return due.flatMap { isPast($0, now) ? nil : $0 }
    }

    /// The latest due instant from `due` through `end`, and the number of those before it.
    func latest(from due: Int64, through end: Int64) -> (due: Int64, before: Int64) {
        guard period ?? namedPeriod != nil, rules.mode == .fixedRate, end > due else { return (due, 0) }
        let before = count(from: due, before: end + 1) - 1
        return (instant(before, after: due), before)
    }

    /// The due instant after the one at `due`, which fires now.
    func following(_ due: Int64, _ now: Now) -> Int64? {
        if namedPeriod != nil {
            // A client may have moved the instant anywhere; the calendar schedule goes on from now.
            return instant(1, after: progress.flags.contains(.moved) ? max(due, now.down(.wall)) : due)
        }
        return period.flatMap {
            instant(afterDuration: $0, from: rules.mode == .fixedRate ? due : now.up(rules.clock))
        }
    }
}

extension Now {
    /// Milliseconds on `clock` that have begun.
    func down(_ clock: TimerClock) -> Int64 { milliseconds(on: clock) }

    /// The first whole millisecond on `clock` that is not before now.
    func up(_ clock: TimerClock) -> Int64 {
        let nanoseconds = nanoseconds(on: clock)
        let whole = down(clock)
        return whole * 1_000_000 == nanoseconds ? whole : whole + 1
    }

    /// Microseconds on `clock`, rounded down.
    func microseconds(_ clock: TimerClock) -> Int64 {
        let nanoseconds = nanoseconds(on: clock)
        let quotient = nanoseconds / 1000
        return quotient * 1000 > nanoseconds ? quotient - 1 : quotient
    }
}
