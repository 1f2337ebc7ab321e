extension TimerRules {
    /// The bytes up to which a description names all that its lists have; longer ones name fewer items.
    static let shortWords = 400
    /// The most bytes of a description.
    public static let longestWords = 1000

    /// Returns the rules in plain English: the due instants before leeway and jitter, and what ends them, such as
    /// `every second Monday at 09:00, Europe/Berlin; from 2030-01-07 08:00 UTC on`.
    ///
    /// Times of day are local times; the treatment of those that a change of offset leaves out or repeats is not in the
    /// words. Words of more than 400 bytes have shorter lists, such as `the 1st, the 5th and 17 more`.
    ///
    /// - Parameter zone: the zone that the schedule names. Without it a recurrence rule leaves open what its start decides.
    public func words(in zone: TimeZoneTable?) -> String {
        var text = ""
        // Lists of two items each fit into any length that a description may have.
        for mostItems in [64, 12, 6, 2] {
            text = words(ScheduleWords(phrases: Phrases(mostItems: mostItems)), zone)
            if text.utf8.count <= Self.shortWords { break }
        }
        return text
    }

    private func words(_ words: ScheduleWords, _ zone: TimeZoneTable?) -> String {
        var text = plan(schedule, words, zone) + clockWords
        if let calendar, clock != .working { text += Self.closed(calendar) }
        if let maxFires, schedule.kind != .oneShot { text += "; ends after \(Phrases.count(maxFires, "fire"))" }
        if let until { text += "; no fire after \(Phrases.instant(until))" }
        return text
    }

    private func plan(_ schedule: Schedule, _ words: ScheduleWords, _ zone: TimeZoneTable?) -> String {
        let isWorking = clock == .working
        let byCalendar = isWorking ? calendar.map { " by \(Self.text($0.name.bytes))" } ?? "" : ""
        func duration(_ length: Int64) -> String { Phrases.duration(length, isWorking: isWorking) + byCalendar }
        switch schedule {
        case .after(0): return "once, at its start"
        case .after(let delay): return "once, \(duration(delay)) after its start"
        case .at(let instant): return "once, at \(Phrases.instant(instant))"
        case .every(let period, let first):
            let every = Phrases.every(period, isWorking: isWorking) + byCalendar
            let mode = mode == .fixedDelay ? ", each counted from the fire before" : ""
            switch first {
            case .period: return every + mode
            case .after(period): return every + mode
            case .after(0): return every + ", first at its start" + mode
            case .after(let delay): return every + ", first \(duration(delay)) after its start" + mode
            case .at(let start): return every + mode + words.from(start)
            case .local(let start, let name):
                let days = period / Schedule.day
                let every = days == 1 ? "every day" : "every \(days) days"
                let time =
                    zone.map { " at \(Phrases.clock(ofLocal: $0.local(at: start)))" } ?? " at the same local time"
                return every + time + mode + words.zoneName(name) + words.from(start)
            }
        case .cron(let cron):
            return words.text(cron.expression) + words.zoneName(cron.zone) + (cron.from.map(words.from) ?? "")
        case .recurrence(let recurrence): return words.text(recurrence, in: zone)
        case .watchdog(let period): return alarm(period)
        case .expecting(let schedule, let grace):
            let which = misses > 1 ? "the \(Phrases.spelled(misses)) expected time in a row" : "an expected time"
            return "alarm when not kicked within \(Phrases.duration(grace)) of \(which)"
                + (repeatAlarm ? ", and again for each further one" : "") + ": " + plan(schedule, words, zone)
        }
    }

    private func alarm(_ period: Int64) -> String {
        let length = Phrases.duration(period)
        let silence = misses > 1 ? "\(misses) periods of \(length)" : length
        return "alarm when silent for \(silence)" + (repeatAlarm ? ", and again after every further \(length)" : "")
    }

    /// The clock, where it is not the usual one of the schedule.
    private var clockWords: String {
        guard clock != schedule.defaultClock else { return "" }
        return switch clock {
        case .continuous: ", counted while the server is down too"
        case .wall: ", by the wall clock"
        case .suspending: ", counted only while the server is up"
        case .working: ""
        }
    }

    private static func closed(_ calendar: CalendarRule) -> String {
        let name = text(calendar.name.bytes)
        return switch calendar.onClosed {
        case .skip: "; closed times of \(name) are left out"
        case .next: "; closed times of \(name) move to its next opening"
        case .nextDay: "; closed times of \(name) move to the next day that is open then"
        case .previousDay: "; closed times of \(name) move to the last day before that is open then"
        }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
