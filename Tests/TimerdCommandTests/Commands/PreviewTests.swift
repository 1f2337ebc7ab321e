import Testing

@testable import TimerdCommand

struct PreviewTests {
    private func preview(_ words: String...) -> [String] {
        CommandRun(["preview"] + words).printed().split(separator: "\n").map(String.init)
    }

    @Test func `ten fires are shown in local time and UTC`() {
        let lines = preview("0 9 * * MON-FRI", "--time-zone", "Europe/Berlin")
        #expect(lines.first == "every weekday at 09:00, Europe/Berlin")
        #expect(lines.count == 11)
        for line in lines.dropFirst() {
            let isSummer = line.contains("+02:00")
            #expect(line.dropFirst(10).hasPrefix(isSummer ? "T09:00:00+02:00  " : "T09:00:00+01:00  "))
            #expect(line.hasSuffix(isSummer ? "T07:00:00Z" : "T08:00:00Z"))
        }
    }

    @Test(arguments: [
        (
            ["@daily", "--count", "2"],
            [
                "every day at 00:00, UTC", "2031-01-01T00:00:00Z  2031-01-01T00:00:00Z",
                "2031-01-02T00:00:00Z  2031-01-02T00:00:00Z",
            ]
        ),
        (
            ["30 6 1 1 *", "--count", "1", "--time-zone", "Asia/Kolkata"],
            ["on the 1st of January at 06:30, Asia/Kolkata", "2031-01-01T06:30:00+05:30  2031-01-01T01:00:00Z"]
        ),
        (
            ["0 0 1 7 *", "--count", "1", "--time-zone", "America/New_York"],
            ["on the 1st of July at 00:00, America/New_York", "2031-07-01T00:00:00-04:00  2031-07-01T04:00:00Z"]
        ),
        (
            ["FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "--count", "2", "--time-zone", "Europe/Berlin"],
            [
                "on the last Friday of each month at 17:00, Europe/Berlin; from 2031-01-01 00:00 UTC on",
                "2031-01-31T17:00:00+01:00  2031-01-31T16:00:00Z", "2031-02-28T17:00:00+01:00  2031-02-28T16:00:00Z",
            ]
        ),
        (
            ["rrule:freq=daily;count=1"],
            [
                "every day at 00:00, UTC; 1 time in all; from 2031-01-01 00:00 UTC on",
                "2031-01-01T00:00:00Z  2031-01-01T00:00:00Z",
            ]
        ),
    ])
    func `the instant to begin at counts, and each zone has its offset`(words: [String], lines: [String]) {
        let run = CommandRun(["preview"] + words + ["--from", "2031-01-01T00:00:00Z"])
        #expect(run.printed() == lines.map { $0 + "\n" }.joined())
    }

    @Test func `JSON has the fires in UTC and in local time`() {
        let run = CommandRun(
            "preview", "0 12 1 1 *", "--time-zone", "Europe/Berlin", "--count", "1", "--from", "2031-01-01T00:00:00Z",
            "--json")
        let object =
            #"{"fires":["2031-01-01T11:00:00.000Z"],"local":["2031-01-01T12:00:00+01:00"],"#
            + #""description":"on the 1st of January at 12:00, Europe/Berlin"}"#
        #expect(run.printed() == object + "\n")
    }

    @Test(arguments: [
        (["61 * * * *"], "61"), (["* * * *"], "fields"), (["0 0 30 2 *"], "never"),
        (["@daily", "--time-zone", "Europe/Pariss"], "Europe/Pariss"), (["@daily", "--count", "0"], "--count"),
        (["@daily", "--count", "1001"], "--count"), (["@daily", "--count", "x"], "count"),
        (["@daily", "--from", "soon"], "--from"), ([], "schedule"),
        (["@daily", "--time-zone", "../../etc/passwd"], "time zone"), ([""], "fields"),
        (["@daily", "--time-zone", "europe/berlin"], "did you mean Europe/Berlin"),
        (["FREQ=HOURLY"], "`every`"), (["FREQ=DAILY;UNTIL=2020"], "UNTIL"), (["rrule:FREQ=DAILY;COUNT=0"], "COUNT"),
        (["FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"], "no fire"), (["TZ=UTC 0 9 * * *"], "--time-zone"),
        (["0 9 * * 1\u{2013}5"], "'1\u{2013}5'"),
    ])
    func `what makes no sense is refused with the reason`(words: [String], reason: String) {
        #expect(CommandRun(["preview"] + words).refusal(64).lowercased().contains(reason.lowercased()))
    }
}
