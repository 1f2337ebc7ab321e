import Testing

@testable import TimerCore

/// Expressions of other programs: a refusal says what to write instead.
struct CronForeignTests {
    private static let year = "to end a schedule use the field `until`, for a single instant `at`"

    @Test(
        arguments: [
            (
                "CRON_TZ=Europe/Berlin 0 9 * * *",
                "'CRON_TZ=Europe/Berlin': the time zone is no part of the expression; give it in the field `timeZone` "
                    + "(--time-zone on the command line)"
            ),
            (
                "TZ=UTC 0 9 * * *",
                "'TZ=UTC': the time zone is no part of the expression; give it in the field `timeZone` "
                    + "(--time-zone on the command line)"
            ),
            (
                "@every 1h30m",
                "@every is a period and no cron expression: use the field `every` with '1h30m' instead of `cron`"
            ),
            ("@every", "@every is a period and no cron expression: use the field `every` instead of `cron`"),
            (
                "rate(5 minutes)",
                "'rate(5' is a period and no cron expression: use the field `every` instead of `cron`"
            ),
            (
                "cron(0 10 * * ? *)",
                "cron(...): write the five fields alone, without the parentheses and the last field, the year"
            ),
            (
                "0 0 12 1 1 ? 2030",
                "there are 7 fields, and a field for the year is not supported: leave it out; \(Self.year)"
            ),
            (
                "0 10 ? * MON-FRI *",
                "of 6 fields the first is for seconds, and a field for the year is not supported: leave the year out; "
                    + Self.year
            ),
            (
                "0 10 1 1 * 2030",
                "of 6 fields the first is for seconds, and a field for the year is not supported: leave the year out; "
                    + Self.year
            ),
        ] as [(String, String)])
    func `the syntax of another scheduler is named`(text: String, message: String) {
        #expect(throws: CronError(message)) { try CronSchedule(text) }
    }

    @Test(
        arguments: [
            ("0 9 * * 1\u{2013}5", "'1\u{2013}5': '\u{2013}' (U+2013) is no hyphen '-'"),
            ("0 9 * * MON\u{2212}FRI", "'MON\u{2212}FRI': '\u{2212}' (U+2212) is no hyphen '-'"),
            ("0\u{A0}9 * * *", "'0<U+00A0>9': U+00A0 is no plain space, which separates fields"),
            ("0 9 * * *\n", "'*<U+000A>': U+000A is no plain space, which separates fields"),
            ("\u{FEFF}0 9 * * *", "'<U+FEFF>0': U+FEFF is invisible: delete it"),
            ("0 9 \u{2217} * *", "'\u{2217}': '\u{2217}' (U+2217) is no asterisk '*'"),
            ("0\u{FF0C}30 9 * * *", "'0\u{FF0C}30': '\u{FF0C}' (U+FF0C) is not the ASCII character ','"),
            ("\u{201C}0 9 * * *\u{201D}", "'\u{201C}0': '\u{201C}' (U+201C) is a quotation mark: leave it out"),
            ("\u{E4} * * * *", "'\u{E4}': '\u{E4}' (U+00E4) is in no expression: they are ASCII"),
        ] as [(String, String)])
    func `a character that no expression has is shown`(text: String, message: String) {
        #expect(throws: CronError(message)) { try CronSchedule(text) }
    }

    @Test(arguments: ["2-6", "MON,3", "6L", "6#3", "2/2", "1-5/2", "FRI-0"])
    func `numbers beside a question mark for the day of month are refused`(days: String) throws {
        let message =
            "day-of-week: '\(days)' beside ? for the day of month: use names such as MON-FRI, as Quartz counts from "
            + "SUN = 1 and cron from SUN = 0"
        #expect(throws: CronError(message)) { try CronSchedule("0 0 12 ? * \(days)") }
        let text = Array("0 0 12 ? * \(days)".utf8)
        let stored = try CronSchedule(text, zone: Array("UTC".utf8), from: nil, isStored: true)
        #expect(try stored == CronSchedule("0 0 12 * * \(days)"))
    }

    @Test(arguments: [
        "0 12 ? * MON-FRI", "0 12 ? * */2", "0 12 ? * MON/2", "0 12 ? * FRI#3", "0 12 1 * ?", "0 12 ? * ?",
    ])
    func `names, steps and other question marks are taken`(text: String) throws {
        #expect(try CronSchedule(text) == CronSchedule(text.replacing("?", with: "*")))
    }
}
