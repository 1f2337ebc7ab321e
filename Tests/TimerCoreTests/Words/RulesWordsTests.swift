import Testing

@testable import TimerCore

/// A timer's rules in plain English: durations, watchdogs, clocks, calendars and ends.
@Suite struct RulesWordsTests {
    private static let second: Int64 = 1000
    private static let minute: Int64 = 60_000
    private static let hour: Int64 = 3_600_000
    /// 2030-01-01T08:00:00.250Z.
    private static let instant: Int64 = 1_893_484_800_250

    private static func words(_ schedule: Schedule, _ change: (inout TimerRules) -> Void = { _ in }) -> String {
        var rules = TimerRules(schedule)
        change(&rules)
        return rules.words(in: .utc)
    }

    private static func cron(_ text: String = "0 9 * * *") throws -> Schedule { .cron(try CronSchedule(text)) }

    private static func calendar(_ policy: ClosedPolicy = .skip) throws -> CalendarRule {
        CalendarRule(try #require(CalendarName("berlin".utf8)), onClosed: policy)
    }

    @Test(
        arguments: [
            (0, "at its start"), (1, "1 millisecond after its start"),
            (1500, "1 second and 500 milliseconds after its start"),
            (90 * second, "90 seconds after its start"), (100 * second, "1 minute and 40 seconds after its start"),
            (hour, "1 hour after its start"), (100 * hour, "4 days and 4 hours after its start"),
            (24 * hour, "1 day after its start"), (TimerRules.longestDuration, "36525 days after its start"),
            (hour + minute + second, "1 hour, 1 minute and 1 second after its start"),
        ] as [(Int64, String)])
    func `a delay`(delay: Int64, words: String) {
        #expect(Self.words(.after(delay)) == "once, " + words)
    }

    @Test(
        arguments: [
            (minute, "every minute"), (5 * minute, "every 5 minutes"), (24 * hour, "every 24 hours"),
            (48 * hour, "every 2 days of 24 hours"), (250, "every 250 milliseconds"),
            (61 * minute, "every 61 minutes"), (100 * minute, "every 1 hour and 40 minutes"),
        ] as [(Int64, String)])
    func `a period`(period: Int64, words: String) {
        #expect(Self.words(.every(period, first: .period)) == words)
        #expect(Self.words(.every(period, first: .after(period))) == words)
    }

    @Test func `the first fire of a repeating timer`() {
        #expect(Self.words(.every(Self.hour, first: .after(0))) == "every hour, first at its start")
        #expect(
            Self.words(.every(Self.hour, first: .after(Self.minute))) == "every hour, first 1 minute after its start")
        #expect(
            Self.words(.every(Self.hour, first: .at(Self.instant))) == "every hour; from 2030-01-01 08:00:00.250 UTC on"
        )
        let delayed = Self.words(.every(Self.hour, first: .period)) { $0.mode = .fixedDelay }
        #expect(delayed == "every hour, each counted from the fire before")
    }

    @Test func `a grid that keeps its local time`() throws {
        let zone = try ZoneFiles.zone("Europe/Berlin")
        func words(_ days: Int64, _ start: Int64, in zone: TimeZoneTable?) -> String {
            TimerRules(.every(days * Schedule.day, first: .local(start, zone: Array("Europe/Berlin".utf8)))).words(
                in: zone)
        }
        let end = ", Europe/Berlin; from 2030-01-01 08:00 UTC on"
        #expect(words(7, Self.instant - 250, in: zone) == "every 7 days at 09:00" + end)
        #expect(words(1, Self.instant - 250, in: zone) == "every day at 09:00" + end)
        #expect(words(7, Self.instant - 250, in: nil) == "every 7 days at the same local time" + end)
        #expect(
            words(1, -1, in: zone) == "every day at 00:59:59.999, Europe/Berlin; from 1969-12-31 23:59:59.999 UTC on")
    }

    @Test func `an instant`() {
        #expect(Self.words(.at(Self.instant - 250)) == "once, at 2030-01-01 08:00 UTC")
        #expect(Self.words(.at(-1)) == "once, at 1969-12-31 23:59:59.999 UTC")
    }

    @Test func `a watchdog`() throws {
        #expect(Self.words(.watchdog(5 * Self.minute)) == "alarm when silent for 5 minutes")
        let patient = Self.words(.watchdog(5 * Self.minute)) { ($0.misses, $0.repeatAlarm) = (3, true) }
        #expect(patient == "alarm when silent for 3 periods of 5 minutes, and again after every further 5 minutes")
        let scheduled = Schedule.expecting(try Self.cron(), grace: 10 * Self.minute)
        #expect(
            Self.words(scheduled)
                == "alarm when not kicked within 10 minutes of an expected time: every day at 09:00, UTC")
        let strict = Self.words(scheduled) { ($0.misses, $0.repeatAlarm) = (2, true) }
        #expect(
            strict
                == "alarm when not kicked within 10 minutes of the second expected time in a row, and again for each "
                + "further one: every day at 09:00, UTC")
    }

    @Test func `a clock that is not the usual one`() {
        #expect(
            Self.words(.after(Self.hour)) { $0.clock = .suspending }
                == "once, 1 hour after its start, counted only while the server is up")
        #expect(Self.words(.after(Self.hour)) { $0.clock = .wall } == "once, 1 hour after its start, by the wall clock")
        #expect(
            Self.words(.watchdog(Self.hour)) { $0.clock = .continuous }
                == "alarm when silent for 1 hour, counted while the server is down too")
    }

    @Test func `working time`() throws {
        let calendar = try Self.calendar()
        func working(_ schedule: Schedule) -> String {
            Self.words(schedule) { ($0.clock, $0.calendar) = (.working, calendar) }
        }
        #expect(working(.after(8 * Self.hour)) == "once, 8 working hours by berlin after its start")
        #expect(working(.after(30 * Self.hour)) == "once, 30 working hours by berlin after its start")
        #expect(
            working(.after(Self.hour + Self.second))
                == "once, 1 hour and 1 second of working time by berlin after its start")
        #expect(
            working(.every(Self.hour, first: .after(90 * Self.minute)))
                == "every working hour by berlin, first 90 working minutes by berlin after its start")
    }

    @Test(arguments: [
        (ClosedPolicy.skip, "are left out"), (.next, "move to its next opening"),
        (.nextDay, "move to the next day that is open then"),
        (.previousDay, "move to the last day before that is open then"),
    ])
    func `a calendar`(policy: ClosedPolicy, words: String) throws {
        let calendar = try Self.calendar(policy)
        #expect(
            Self.words(try Self.cron()) { $0.calendar = calendar }
                == "every day at 09:00, UTC; closed times of berlin " + words)
    }

    @Test func `ends by the number of fires and by an instant`() throws {
        let words = Self.words(try Self.cron()) { ($0.maxFires, $0.until) = (1, Self.instant - 250) }
        #expect(words == "every day at 09:00, UTC; ends after 1 fire; no fire after 2030-01-01 08:00 UTC")
        #expect(Self.words(.after(0)) { $0.maxFires = 1 } == "once, at its start")
    }
}
