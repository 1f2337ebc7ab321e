import Testing

@testable import TimerCore

/// Schedules in plain English: the words of each kind.
@Suite struct WordsTests {
    @Test(arguments: [
        ("* * * * *", "every minute"), ("@hourly", "every hour"), ("@daily", "every day at 00:00"),
        ("@weekly", "every Sunday at 00:00"), ("@monthly", "on the 1st of each month at 00:00"),
        ("@yearly", "on the 1st of January at 00:00"), ("*/10 * * * * *", "every 10 seconds"),
        ("30 0 9 * * *", "every day at 09:00:30"), ("0 9,17 * * *", "every day at 09:00 and 17:00"),
        ("30 * * * *", "every hour from 00:30 to 23:30"), ("0 */2 * * *", "every 2 hours from 00:00 to 22:00"),
        ("*/15 9-17 * * MON-FRI", "every 15 minutes from 09:00 to 17:45 on weekdays"),
        ("5-59/15 * * * *", "every 15 minutes from 00:05 to 23:50"), ("0,30 * * * *", "every 30 minutes"),
        ("* 9 * * 1,3", "every minute from 09:00 to 09:59 on Mondays and Wednesdays"),
        ("0 8-11,13-17 * * 1-6", "every hour from 08:00 to 11:00 and from 13:00 to 17:00 on all days but Sunday"),
        ("*/7 * * * *", "at minutes 0 to 56 in steps of 7 of every hour"),
        (
            "0,7 */3 * NOV-FEB SUN",
            "every Sunday in January, February, November and December at minutes 0 and 7 of hours 0 to 21 in steps of 3"
        ),
        ("* 5 * * * *", "every second of minute 5 of every hour"),
        ("0-9,20 * * * * *", "at seconds 0 to 9 and 20 of every minute of every hour"),
        ("30 */5 * JUN-AUG,12 *", "every day in June to August and December at 00:30, 05:30, 10:30, 15:30 and 20:30"),
        ("0 17 * * FRIL", "on the last Friday of each month at 17:00"),
        ("0 17 * 3,9 MON#2", "on the second Monday of March and September at 17:00"),
        (
            "0 12 L-2,15W,LW 1-3 *",
            "on the weekday nearest the 15th, the last weekday and the third-last day of January to March at 12:00"
        ),
        ("0 12 L * *", "on the last day of each month at 12:00"),
        ("0 0 1-7 * *", "on the 1st to the 7th of each month at 00:00"),
        ("0 9 13 * FRI", "on the 13th of each month and every Friday at 09:00"),
        ("0 9 13 1 FRI", "on the 13th of January and every Friday in January at 09:00"),
        ("0 9 1-31 * FRI", "every day at 09:00"), ("0 9 13 * SUN-SAT", "every day at 09:00"),
        (
            "0 9 */10 * MON",
            "on every 10th day from the 1st to the 31st of each month at 09:00, if that day is a Monday"
        ),
        ("0 9 * * SAT,MON#1", "on every Saturday and the first Monday of each month at 09:00"),
    ])
    func `a cron expression`(text: String, words: String) throws {
        #expect(TimerRules(.cron(try CronSchedule(text))).words(in: .utc) == words + ", UTC")
    }

    @Test func `a cron expression that begins later, in another zone`() throws {
        let cron = try CronSchedule(
            Array("0 9 * * *".utf8), zone: Array("Europe/Berlin".utf8), from: try ZoneFiles.instant("2030-01-01T12:00Z")
        )
        let words = TimerRules(.cron(cron)).words(in: try ZoneFiles.zone("Europe/Berlin"))
        #expect(words == "every day at 09:00, Europe/Berlin; from 2030-01-01 12:00 UTC on")
    }

    // Each rule starts on Monday 2030-01-07 at 09:00.
    @Test(arguments: [
        ("FREQ=DAILY", "every day at 09:00"), ("FREQ=DAILY;INTERVAL=2", "every second day at 09:00"),
        (
            "FREQ=DAILY;INTERVAL=3;BYDAY=MO,TU;BYMONTH=1",
            "every third day at 09:00, if that day is a Monday or a Tuesday, and in January"
        ),
        ("FREQ=DAILY;BYHOUR=9,10,11;BYSETPOS=1,-1", "every day at 09:00 and 11:00"),
        ("FREQ=WEEKLY", "every Monday at 09:00"), ("FREQ=WEEKLY;INTERVAL=2", "every second Monday at 09:00"),
        (
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,TH",
            "every second week on Tuesdays and Thursdays at 09:00, weeks beginning on Sunday"
        ),
        (
            "FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9,17;BYSETPOS=-1",
            "every Monday and Wednesday at 09:00 and 17:00, of these only the last of each week"
        ),
        ("FREQ=MONTHLY", "on the 7th of each month at 09:00"),
        ("FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "on the last Friday of each month at 17:00"),
        ("FREQ=MONTHLY;BYDAY=MO,-2FR", "on every Monday and the second-last Friday of each month at 09:00"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "on the last weekday of each month at 09:00"),
        ("FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=1,-1", "every second month on the 1st and the last day at 09:00"),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "on the 13th of each month at 09:00, if that day is a Friday"),
        (
            "FREQ=MONTHLY;INTERVAL=2;BYDAY=SU;BYMONTH=3,4",
            "every second month on Sundays at 09:00, if that day is in March or April"
        ),
        ("FREQ=YEARLY", "on the 7th of January at 09:00"),
        ("FREQ=YEARLY;BYDAY=20MO", "on the 20th Monday of each year at 09:00"),
        (
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4",
            "every fourth year on the 2nd to the 4th of November at 09:00, if that day is a Tuesday"
        ),
        ("FREQ=YEARLY;BYWEEKNO=20", "every Monday in week 20 of the year at 09:00"),
        (
            "FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1,-1;BYDAY=MO;BYMONTH=1",
            "every second year on Mondays in week 1 and the last week of the year at 09:00, if that day is in January"
        ),
        ("FREQ=YEARLY;BYYEARDAY=1,100,-1", "on the 1st day, the 100th day and the last day of each year at 09:00"),
        (
            "FREQ=YEARLY;BYMONTH=3;BYDAY=SU;BYSETPOS=2",
            "every Sunday in March at 09:00, of these only the second of each year"
        ),
        (
            "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16,17;BYDAY=MO,TU,WE,TH,FR",
            "every hour from 09:00 to 17:00 on weekdays"
        ),
    ])
    func `a recurrence rule`(text: String, words: String) throws {
        #expect(try Self.words(text) == words + ", Europe/Berlin; from 2030-01-07 08:00 UTC on")
    }

    @Test(arguments: [
        ("FREQ=DAILY;COUNT=4", "; 4 times in all"), ("FREQ=DAILY;UNTIL=20301224", "; through 2030-12-24"),
        ("FREQ=DAILY;UNTIL=20301224T090000", "; through 2030-12-24 09:00"),
        ("FREQ=DAILY;UNTIL=20301224T080030Z", "; through 2030-12-24 08:00:30 UTC"),
    ])
    func `the end of a recurrence rule`(text: String, words: String) throws {
        #expect(try Self.words(text) == "every day at 09:00, Europe/Berlin\(words); from 2030-01-07 08:00 UTC on")
    }

    @Test(arguments: [
        ([1, 2, 3], [4, 5], "; and 3 dates besides, without 2 dates"), ([1], [], "; and 1 date besides"),
        ([], [1], "; without 1 date"),
    ])
    func `dates added and taken away are counted`(added: [Int64], taken: [Int64], words: String) throws {
        let plain = try Self.words("FREQ=DAILY")
        #expect(try Self.words("FREQ=DAILY", rdates: added, exdates: taken) == plain + words)
    }

    // The start is the step that makes the timer.
    @Test(arguments: [
        ("FREQ=DAILY", "every day, with the time of day of its start"),
        ("FREQ=WEEKLY;INTERVAL=2", "every second week, with the day of the week and time of day of its start"),
        ("FREQ=MONTHLY;BYHOUR=9", "every month at hour 9, with the day of the month, minute and second of its start"),
        ("FREQ=YEARLY;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "every year at 09:00, with the date of its start"),
        ("FREQ=YEARLY;BYMONTH=3", "every year in March, with the day of the month and time of day of its start"),
        (
            "FREQ=YEARLY;BYWEEKNO=20",
            "every year in week 20 of the year, with the day of the week and time of day of its start"
        ),
        ("FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "every Monday at 09:00"),
    ])
    func `a recurrence rule whose start is not known leaves its parts open`(text: String, words: String) throws {
        #expect(try Self.words(text, from: nil) == words + ", Europe/Berlin; from its start on")
    }

    private static func words(
        _ text: String, from start: String? = "2030-01-07T08:00Z", rdates: [Int64] = [], exdates: [Int64] = []
    ) throws -> String {
        let schedule = try RecurrenceSchedule(
            Array(text.utf8), zone: Array("Europe/Berlin".utf8), from: try start.map(ZoneFiles.instant), rdates: rdates,
            exdates: exdates)
        return TimerRules(.recurrence(schedule)).words(in: try ZoneFiles.zone("Europe/Berlin"))
    }
}
