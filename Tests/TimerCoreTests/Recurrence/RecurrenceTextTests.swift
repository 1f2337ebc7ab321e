import TestSupport
import Testing

@testable import TimerCore

/// The reading of rules.
struct RecurrenceTextTests {
    private static let names =
        "FREQ INTERVAL COUNT UNTIL BYSECOND BYMINUTE BYHOUR BYDAY BYMONTHDAY BYYEARDAY BYWEEKNO BYMONTH BYSETPOS WKST"
    private static let day = "is none of MO TU WE TH FR SA SU"
    private static let until =
        "is neither a date such as 20261224 nor a time such as 20261224T090000 or 20261224T080000Z"
    private static let below = "for periods below a day use the field `every` or `cron` instead of `rrule`"

    @Test(
        arguments: [
            ("", "a part is empty: they are separated by one ;"),
            ("FREQ=DAILY;", "a part is empty: they are separated by one ;"),
            ("FREQ", "FREQ: a value is missing"),
            ("daily", "'daily' is no part of a rule: they are \(names)"),
            ("FREQ=DAILY;BYEASTER=0", "'BYEASTER' is no part of a rule: they are \(names)"),
            (" FREQ=DAILY", "' FREQ' is no part of a rule: they are \(names)"),
            ("COUNT=1", "FREQ: this part is missing: it is one of DAILY WEEKLY MONTHLY YEARLY"),
            ("FREQ=DAILY;FREQ=DAILY", "FREQ: this part is given twice"),
            ("FREQ=DAILY;BYHOUR=1;byhour=2", "BYHOUR: this part is given twice"),
            ("FREQ=FORTNIGHTLY", "FREQ: 'FORTNIGHTLY' is none of DAILY WEEKLY MONTHLY YEARLY"),
            ("FREQ=HOURLY", "FREQ: HOURLY is none of DAILY WEEKLY MONTHLY YEARLY: \(below)"),
            ("FREQ=minutely", "FREQ: MINUTELY is none of DAILY WEEKLY MONTHLY YEARLY: \(below)"),
            ("FREQ=SECONDLY", "FREQ: SECONDLY is none of DAILY WEEKLY MONTHLY YEARLY: \(below)"),
            ("EXRULE:FREQ=DAILY", "'EXRULE' before the : is not RRULE: only a recurrence rule is taken"),
            ("RRULE;X=1:FREQ=DAILY", "'RRULE;X=1' before the : is not RRULE: only a recurrence rule is taken"),
            (
                "DTSTART;TZID=Europe/Berlin:20261224T090000",
                "'DTSTART;TZID=Europe/Berlin' before the : is not RRULE: give it in the field `from`"
            ),
            ("RDATE:20261224", "'RDATE' before the : is not RRULE: give it in the field `rdates`"),
            ("exdate:20261224", "'exdate' before the : is not RRULE: give it in the field `exdates`"),
            ("FREQ=DAILY;INTERVAL=0", "INTERVAL: '0' is not in 1-999999999"),
            ("FREQ=DAILY;INTERVAL=2147483647", "INTERVAL: '2147483647' is not in 1-999999999"),
            ("FREQ=DAILY;INTERVAL=-1", "INTERVAL: '-1' is no number"),
            ("FREQ=DAILY;INTERVAL=", "INTERVAL: a number is missing"),
            ("FREQ=DAILY;COUNT=0", "COUNT: '0' is not in 1-999999999"),
            ("FREQ=DAILY;COUNT=1000000000", "COUNT: '1000000000' is not in 1-999999999"),
            ("FREQ=DAILY;COUNT=1;UNTIL=20261224", "COUNT: not beside UNTIL"),
            ("FREQ=DAILY;UNTIL=2026-12-24", "UNTIL: '2026-12-24' \(until)"),
            ("FREQ=DAILY;UNTIL=20261224T09", "UNTIL: '20261224T09' \(until)"),
            ("FREQ=DAILY;UNTIL=20261224Z", "UNTIL: '20261224Z' \(until)"),
            ("FREQ=DAILY;UNTIL=20260230", "UNTIL: '20260230' is on no day of the calendar"),
            ("FREQ=DAILY;UNTIL=20261224T240000", "UNTIL: '20261224T240000' is at no time of day"),
            ("FREQ=DAILY;UNTIL=20161231T235960Z", "UNTIL: '20161231T235960Z' is at no time of day"),
            ("FREQ=DAILY;BYSECOND=60", "BYSECOND: '60' is not in 0-59"),
            ("FREQ=DAILY;BYMINUTE=60", "BYMINUTE: '60' is not in 0-59"),
            ("FREQ=DAILY;BYHOUR=24", "BYHOUR: '24' is not in 0-23"),
            ("FREQ=DAILY;BYHOUR=-1", "BYHOUR: '-1' is no number"),
            ("FREQ=DAILY;BYMONTH=13", "BYMONTH: '13' is not in 1-12"),
            ("FREQ=DAILY;BYMONTH=JAN", "BYMONTH: 'JAN' is no number"),
            ("FREQ=DAILY;BYMONTH=1,,2", "BYMONTH: '1,,2' has an empty item"),
            ("FREQ=DAILY;BYMONTH=", "BYMONTH: '' has an empty item"),
            ("FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY: '32' is not in 1-31 or -31 to -1"),
            ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY: '0' is not in 1-31 or -31 to -1"),
            ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY: not with FREQ=WEEKLY"),
            ("FREQ=YEARLY;BYYEARDAY=367", "BYYEARDAY: '367' is not in 1-366 or -366 to -1"),
            ("FREQ=MONTHLY;BYYEARDAY=1", "BYYEARDAY: only with FREQ=YEARLY"),
            ("FREQ=DAILY;BYYEARDAY=1", "BYYEARDAY: only with FREQ=YEARLY"),
            ("FREQ=YEARLY;BYWEEKNO=-54", "BYWEEKNO: '-54' is not in 1-53 or -53 to -1"),
            ("FREQ=MONTHLY;BYWEEKNO=1", "BYWEEKNO: only with FREQ=YEARLY"),
            ("FREQ=MONTHLY;BYDAY=54MO", "BYDAY: '54' is not in 1-53 or -53 to -1"),
            ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY: '0' is not in 1-53 or -53 to -1"),
            ("FREQ=MONTHLY;BYDAY=-MO", "BYDAY: a number is missing"),
            ("FREQ=MONTHLY;BYDAY=MON", "BYDAY: 'ON' \(day)"),
            ("FREQ=MONTHLY;BYDAY=1", "BYDAY: '1' \(day)"),
            ("FREQ=WEEKLY;BYDAY=1MO", "BYDAY: a number before the day only with FREQ=MONTHLY or FREQ=YEARLY"),
            ("FREQ=DAILY;BYDAY=-1MO", "BYDAY: a number before the day only with FREQ=MONTHLY or FREQ=YEARLY"),
            ("FREQ=YEARLY;BYDAY=1MO;BYWEEKNO=1", "BYDAY: no number before the day beside BYWEEKNO"),
            ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=367", "BYSETPOS: '367' is not in 1-366 or -366 to -1"),
            ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS: this part needs another BY part, such as BYDAY"),
            ("FREQ=DAILY;WKST=1", "WKST: '1' \(day)"),
        ])
    func `a refusal names the part`(text: String, message: String) {
        #expect(throws: RecurrenceError(message)) { try RecurrenceRule(Array(text.utf8)) }
    }

    @Test(arguments: [512: true, 513: false])
    func `a rule has a longest length`(length: Int, taken: Bool) {
        let tail = length % 2 == 0 ? ";BYMONTH=1" : ";BYMONTH=12"
        let text = "FREQ=DAILY" + tail + String(repeating: ",1", count: (length - 10 - tail.utf8.count) / 2)
        #expect(text.utf8.count == length)
        #expect(((try? RecurrenceRule(Array(text.utf8))) != nil) == taken)
    }

    @Test(arguments: [
        ("FREQ=WEEKLY;BYDAY=MO,FR", "rrule:byday=fr,mo,FR;freq=weekly"), ("FREQ=DAILY", "FREQ=DAILY;INTERVAL=1"),
        ("FREQ=DAILY", "FREQ=DAILY;WKST=SU"), ("FREQ=WEEKLY", "FREQ=WEEKLY;WKST=SU"),
        ("FREQ=WEEKLY;INTERVAL=2", "FREQ=WEEKLY;INTERVAL=02;WKST=MO"),
        ("FREQ=MONTHLY;BYDAY=1MO,-1FR", "FREQ=MONTHLY;BYDAY=-1FR,+1MO"),
        ("FREQ=YEARLY;BYYEARDAY=1,-1", "FREQ=YEARLY;BYYEARDAY=-1,1,1"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1,2", "FREQ=MONTHLY;BYSETPOS=+2,1;BYDAY=MO"),
        ("FREQ=DAILY;UNTIL=20261224", "FREQ=DAILY;UNTIL=20261224T235959"),
        ("FREQ=DAILY;UNTIL=20261224T080000Z", "freq=daily;until=20261224t080000z"),
    ])
    func `the same in other words is equal`(left: String, right: String) throws {
        #expect(try RecurrenceRule(Array(left.utf8)) == RecurrenceRule(Array(right.utf8)))
    }

    @Test(arguments: [
        ("FREQ=DAILY", "FREQ=WEEKLY"), ("FREQ=WEEKLY;INTERVAL=2", "FREQ=WEEKLY;INTERVAL=2;WKST=SU"),
        ("FREQ=WEEKLY;BYDAY=MO;BYSETPOS=1", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=1;WKST=SU"),
        ("FREQ=YEARLY;BYWEEKNO=1", "FREQ=YEARLY;BYWEEKNO=1;WKST=SU"), ("FREQ=DAILY;COUNT=1", "FREQ=DAILY"),
        ("FREQ=MONTHLY;BYMONTHDAY=1", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("FREQ=MONTHLY;BYDAY=1MO", "FREQ=MONTHLY;BYDAY=MO"),
        ("FREQ=DAILY;UNTIL=20261224T080000Z", "FREQ=DAILY;UNTIL=20261224T080000"),
    ])
    func `what differs is not equal`(left: String, right: String) throws {
        #expect(try RecurrenceRule(Array(left.utf8)) != RecurrenceRule(Array(right.utf8)))
    }

    @Test func `any bytes are read or refused in one printable line`() {
        var random = SeededGenerator(seed: 5)
        let frequencies = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]
        let pieces = [
            "BYDAY=MO,FR", "BYDAY=-1FR", "BYMONTHDAY=1,-1", "BYMONTH=2,12", "BYWEEKNO=53", "BYYEARDAY=366",
            "BYSETPOS=-1",
            "COUNT=999999999", "UNTIL=20261224T080000Z", "INTERVAL=99", "BYHOUR=0,23", "WKST=SU", "=", ":", "\n",
            "\u{7F}é",
        ]
        var taken = 0
        for _ in 0..<30_000 {
            var text = "FREQ=\(frequencies.randomElement(using: &random) ?? "")"
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                text += ";\(pieces.randomElement(using: &random) ?? "")"
            }
            var bytes = Array(text.utf8)
            if random.chance(oneIn: 4) { bytes = random.mutation(of: bytes) }
            do throws(RecurrenceError) {
                let schedule = try RecurrenceSchedule(bytes, zone: [], from: random.number())
                _ = schedule.next(after: random.number(), in: .utc)
                taken += 1
            } catch {
                let isPrintable = error.message.unicodeScalars.allSatisfy { $0 == " " || $0.isVisible }
                #expect(isPrintable && error.message.count < 400, "\(error.message)")
            }
        }
        #expect(taken > 500)
    }
}
