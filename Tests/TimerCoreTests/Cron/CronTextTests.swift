import TestSupport
import Testing

@testable import TimerCore

/// The reading of expressions.
struct CronTextTests {
    @Test(
        arguments: [
            ("", "5 fields are needed, or 6 with seconds first; there are 0"),
            ("* * * *", "5 fields are needed, or 6 with seconds first; there are 4"),
            ("* * * * * * * *", "5 fields are needed, or 6 with seconds first; there are 8"),
            ("60 * * * *", "minute: 60 is not in 0-59"),
            ("* 24 * * *", "hour: 24 is not in 0-23"),
            ("* * 0 * *", "day-of-month: 0 is not in 1-31"),
            ("* * 32 * *", "day-of-month: 32 is not in 1-31"),
            ("* * * 13 *", "month: 13 is not in 1-12"),
            ("* * * 0 *", "month: 0 is not in 1-12"),
            ("* * * * 8", "day-of-week: 8 is not in 0-7"),
            ("60 * * * * *", "second: 60 is not in 0-59"),
            ("99999999999 * * * *", "minute: '99999999999' is no number"),
            ("1,,2 * * * *", "minute: '1,,2' has an empty item"),
            ("1, * * * *", "minute: '1,' has an empty item"),
            ("1- * * * *", "minute: a number is missing"),
            ("-1 * * * *", "minute: a number is missing"),
            ("1-2-3 * * * *", "minute: '2-3' is no number"),
            ("*/0 * * * *", "minute: the step 0 is not in 1-60"),
            ("5-1/0 * * * *", "minute: the step 0 is not in 1-60"),
            ("*/90 * * * *", "minute: the step 90 is not in 1-60"),
            ("*/ * * * *", "minute: the step '' is no number"),
            ("1/2/3 * * * *", "minute: the step '2/3' is no number"),
            ("? * * * *", "minute: ? can only be a whole day field"),
            ("a * * * *", "minute: 'a' is no number"),
            ("* * * JANUARY *", "month: 'JANUARY' is no number or name"),
            ("* * * MON *", "month: 'MON' is no number or name"),
            ("* * L-0 * *", "day-of-month: 'L-0': the last but '0' is not in 1-30"),
            ("* * L-31 * *", "day-of-month: 'L-31': the last but '31' is not in 1-30"),
            ("* * W * *", "day-of-month: a number is missing"),
            ("* * 32W * *", "day-of-month: 32 is not in 1-31"),
            ("* * L/2 * *", "day-of-month: 'L' is no number"),
            ("* * * * MON#6", "day-of-week: 'MON#6': # is followed by a number in 1-5"),
            ("* * * * MON#0", "day-of-week: 'MON#0': # is followed by a number in 1-5"),
            ("* * * * #2", "day-of-week: a number is missing"),
            ("* * * * L", "day-of-week: L follows a day of the week, as in FRIL"),
            ("* * * * 8L", "day-of-week: 8 is not in 0-7"),
            ("@reboot", "@reboot: the start of a machine is no instant of the calendar"),
            ("@fortnightly", "'@fortnightly' is none of @yearly @annually @monthly @weekly @daily @midnight @hourly"),
            ("@daily 5", "after '@daily' nothing may follow"),
        ])
    func `a refusal names the field`(text: String, message: String) {
        #expect(throws: CronError(message)) { try CronSchedule(text) }
    }

    @Test(arguments: [256: true, 257: false])
    func `an expression has a longest length`(length: Int, taken: Bool) {
        let text = "* * * * *" + String(repeating: " ", count: length - 9)
        #expect(((try? CronSchedule(text)) != nil) == taken)
    }

    @Test(arguments: [
        "0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 L-29 2 *", "0 0 L-30 2,4 *", "0 0 30W 2 *", "0 0 31W 4 *",
        "0 0 30 2 */2",
    ])
    func `what can never fire is refused`(text: String) {
        #expect(throws: CronError("this can never fire: no month it names has such a day")) { try CronSchedule(text) }
    }

    @Test(arguments: ["0 0 29 2 *", "0 0 L-28 2 *", "0 0 30 2 MON", "0 0 29 2 */7", "0 0 * 2 MON#5", "0 0 31W 1 *"])
    func `what fires seldom is taken, and fires`(text: String) throws {
        #expect(try CronSchedule(text).fires(after: "2026-01-01T00:00Z", count: 3).count == 3)
    }

    @Test(arguments: [
        ("*/15 * * * *", "0,15,30,45  *\t*   * *"), ("0 0 * * 0", "0 0 * * 7"), ("0 0 * * 5-7", "0 0 * * FRI-SUN"),
        ("0 0 * * fri-sun", "0 0 * * 0,5,6"), ("0 0 1 jan *", "0 0 1 1 *"), ("@yearly", "@Annually"),
        ("@daily", "@MIDNIGHT"), ("@daily", "0 0 0 * * *"), ("@weekly", "0 0 * * SUN"), ("@hourly", "0 * * * *"),
        ("@monthly", "0 0 1 * *"), ("0 0 ? * MON#2", "0 0 * * 1#2"), ("0 0 * * FRIL", "0 0 * * 5l"),
        ("0 0 * * 7L", "0 0 * * SUNL"), ("0 0 L * *", "0 0 l * ?"), ("0 0 15w * *", "0 0 15W * *"),
        ("5/20 * * * *", "5,25,45 * * * *"), ("0 8-18/4 * * *", "0 8,12,16 * * *"), ("007 * * * *", "7 * * * *"),
        (" 1 1 1 1 1 ", "1 1 1 1 1"), ("0 22-2 * * *", "0 22,23,0,1,2 * * *"), ("0 22-2/2 * * *", "0 22,0,2 * * *"),
        ("0 22-2/5 * * *", "0 22 * * *"), ("55-5/5 * * * *", "55,0,5 * * * *"), ("59-58/59 * * * *", "59,58 * * * *"),
        ("50-10/20 0 0 * * *", "50,10 0 0 * * *"), ("0 0 * * FRI-MON", "0 0 * * 5,6,0,1"),
        ("0 0 * * FRI-MON/2", "0 0 * * FRI,SUN"), ("0 0 * * 7-2", "0 0 * * SUN-TUE"),
        ("0 0 * * SAT-FRI", "0 0 * * 0-6"), ("0 0 * * 3-2/3", "0 0 * * 3,6,2"),
        ("0 0 1 NOV-FEB *", "0 0 1 11,12,1,2 *"),
        ("0 0 1 12-11/6 *", "0 0 1 12,6 *"), ("0 0 30-2 * *", "0 0 30,31,1,2 * *"),
        ("0 0 25-5/4 * *", "0 0 25,29,2 * *"),
        // A range that covers the hour or minute field is `*`.
        ("0 0-23 * * *", "@hourly"), ("0-59 3 * * *", "* 3 * * *"), ("0-59/2 3 * * *", "*/2 3 * * *"),
        ("0 0-23/1 * * *", "0 */1 * * *"), ("0 7-6 * * *", "0 * * * *"), ("0 0-23,5 * * *", "0 *,5 * * *"),
    ])
    func `the same in other words is equal`(left: String, right: String) throws {
        #expect(try CronSchedule(left) == CronSchedule(right))
    }

    @Test(arguments: [
        ("0 0 1 * *", "0 0 2 * *"), ("*/2 3 * * *", "0/2 3 * * *"), ("0-59 3 * * *", "0-58,59 3 * * *"),
        ("0 0 1 * MON", "0 0 1 * ?"),
    ])
    func `what differs is not equal`(left: String, right: String) throws {
        #expect(try CronSchedule(left) != CronSchedule(right))
        #expect(try CronSchedule(left, from: 1) != CronSchedule(left, from: 2))
        #expect(try CronSchedule(left) != CronSchedule(Array(left.utf8), zone: Array("Europe/Berlin".utf8), from: nil))
    }

    @Test func `any bytes are read or refused in one printable line`() {
        var random = SeededGenerator(seed: 5)
        let pieces = "*?/-,#LW0123456789 @JANMONFRI \t\n\u{7F}é".utf8.map(\.self)
        var taken = 0
        for _ in 0..<50_000 {
            let length = Int.random(in: 0...20, using: &random)
            var bytes = (0..<length).map { _ in pieces.randomElement(using: &random) ?? 0 }
            if random.chance(oneIn: 2) { bytes = Array("\(String(decoding: bytes, as: UTF8.self)) * * * *".utf8) }
            if random.chance(oneIn: 4), !bytes.isEmpty { bytes[0] = UInt8.random(in: 0...255, using: &random) }
            do throws(CronError) {
                _ = try CronSchedule(bytes, zone: [], from: nil)
                taken += 1
            } catch {
                let scalars = error.message.unicodeScalars
                #expect(scalars.allSatisfy { $0 == " " || $0.isVisible } && scalars.count < 260)
            }
        }
        #expect(taken > 100)
    }
}
