@testable import TimerCore

/// The effects of calendars on timers.
extension ModelTimer {
    /// Takes the opening hours of the timer's calendar from all `calendars`.
    mutating func takeHours(_ calendars: [CalendarName: ModelHours]) {
        hours = rules.calendar.flatMap { calendars[$0.name] }
    }

    /// Returns the instant at which a duration is over that begins at `start`, both on the timer's clock; nil for one after the
    /// year 9999 in working time.
    func instant(afterDuration duration: Int64, from start: Int64) -> Int64? {
        guard rules.clock == .working else { return start + duration }
        return hours?.due(after: duration, from: start)
    }

    /// Returns the milliseconds that count between two instants of the timer's clock.
    func counted(from start: Int64, to end: Int64) -> Int64 {
        guard rules.clock == .working else { return end - start }
        return hours?.elapsed(from: start, to: end) ?? 0
    }

    /// Returns the microseconds that count from the first whole millisecond not before now until `due`.
    func remaining(until due: Int64, _ now: Now) -> Int64 {
        let start = now.up(rules.clock)
        return due > start ? counted(from: start, to: due) * 1000 : 0
    }

    /// Returns the first whole millisecond up to which `microseconds` or more count from now on; nil as for a duration.
    func due(after microseconds: Int64, _ now: Now) -> Int64? {
        let nanoseconds = now.nanoseconds(on: rules.clock)
        let begun = now.microseconds(rules.clock)
        let start = begun * 1000 == nanoseconds ? begun : begun + 1
        guard rules.clock == .working else { return -floorDivide(-(start + microseconds), 1000) }
        let millisecond = floorDivide(start, 1000)
        let passed = isOpen(at: millisecond) ? start - millisecond * 1000 : 0
        return instant(afterDuration: -floorDivide(-(microseconds + passed), 1000), from: millisecond)
    }

    private func isOpen(at instant: Int64) -> Bool { hours?.isOpen(at: instant) ?? false }

    /// Returns the instant to which an `at` of a schedule or of a client leads.
    func opening(_ instant: Int64) -> Int64 { hours?.opening(atOrAfter: instant) ?? instant }

    /// Plans the next fire by other opening hours, which are in force from now on.
    mutating func change(to new: ModelHours, _ now: Now) {
        guard let old = hours else { return }
        hours = new
        // The instants before are counted by the hours before.
        (gridStart, gridFires, gridMissed) = (progress.due, 0, 0)
        let state = progress.state
        let keepsTime = state == .suspended && ModelStep.keepsRemaining(rules)
        guard state == .running || state == .suspended, !keepsTime, progress.due > now.wall,
            !progress.flags.contains(.moved) || rules.clock == .working
        else { return }
        let due: Int64
        if rules.clock == .working {
            due = new.due(after: old.elapsed(from: now.wall, to: progress.due), from: now.wall) ?? Grid.never
        } else if case .at(let instant) = rules.schedule {
            due = new.opening(atOrAfter: instant)
        } else {
            preconditionFailure("histories have no other timers with calendars")
        }
        guard due != progress.due else { return }
        progress.due = due
        isDueAtOnce = due <= now.wall
        gridStart = due
        lastDue = nil
    }
}

extension Model {
    /// The number of timers that go by a calendar and have not ended.
    func uses(of calendar: CalendarName) -> Int {
        timers.values.count { $0.rules.calendar?.name == calendar && !$0.progress.state.hasEnded }
    }

    mutating func set(_ calendar: CalendarName, _ hours: ModelHours, _ now: Now) {
        calendars[calendar] = hours
        for id in timers.keys where timers[id]?.rules.calendar?.name == calendar { timers[id]?.change(to: hours, now) }
    }
}

extension ModelStep {
    /// Records that a changed calendar has planned the timer again.
    mutating func replan() {
        let isShown = timer.progress.state == .running
        record(isShown ? .rescheduled : nil, reason: isShown ? .calendar : .none)
    }
}

extension TimerProgress {
    /// The progress without the edition of the calendar by which it was planned, which is the server's own affair.
    var withoutEdition: TimerProgress {
        var progress = self
        progress.edition = 0
        return progress
    }
}
