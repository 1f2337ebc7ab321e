import Foundation
import TestSupport
import Testing
import WireJSON

@Suite struct RFC3339Tests {
    private func parse(_ text: String) throws(TextError) -> Int64 { try RFC3339.parse(Array(text.utf8)) }

    private func written(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        RFC3339.append(milliseconds, to: &bytes)
        return text(bytes)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2026-11-21T09:00:00.000Z", 1_795_251_600_000),
            ("2026-11-21t09:00:00z", 1_795_251_600_000),
            ("2026-11-21T10:00:00+01:00", 1_795_251_600_000),
            ("2026-11-21T03:30:00-05:30", 1_795_251_600_000),
            ("2026-11-22T08:59:00+23:59", 1_795_251_600_000),
            ("2026-11-21T09:00:00-00:00", 1_795_251_600_000),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("2098-12-31T23:59:59.9990001Z", 4_070_908_800_000),
            ("2000-02-29T23:59:59Z", 951_868_799_000),
            ("0000-01-01T00:00:00Z", RFC3339.minimum),
            ("9999-12-31T23:59:59.999Z", RFC3339.maximum),
            ("0001-01-01T00:00:00+01:00", -62_135_600_400_000),
        ] as [(String, Int64)])
    func `an instant is read`(text: String, expected: Int64) throws {
        #expect(try parse(text) == expected)
    }

    @Test(
        arguments: [
            (".0", 0), (".1", 100), (".12", 120), (".123", 123), (".1230", 123), (".1230000000000000000000", 123),
            (".12300000000000000000001", 124), (".0001", 1), (".9990", 999), (".9991", 1000), (".999999999", 1000),
        ] as [(String, Int64)])
    func `a fraction finer than a millisecond is rounded up`(fraction: String, expected: Int64) throws {
        #expect(try parse("1970-01-01T00:00:00\(fraction)Z") == expected)
        #expect(try parse("1969-12-31T23:59:59\(fraction)Z") == expected - 1000)
        #expect(try parse("1999-12-31T23:59:59\(fraction)Z") == 946_684_799_000 + expected)
    }

    @Test(arguments: [
        "", "2026", "2026-11-21", "2026-11-21 09:00:00Z", "2026-11-21T09:00Z", "2026-11-21T09:00:00", "x",
        "2026-11-21T09:00:00.Z", "2026-11-21T09:00:00,5Z", "2026-11-21T09:00:00+0100", "2026-11-21T09:00:00+01",
        "2026-11-21T09:00:00+24:00", "2026-11-21T09:00:00+01:60", "2026-11-21T09:00:00ZZ", "2026-11-21T09:00:00Z ",
        " 2026-11-21T09:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T09:60:00Z", "2026-11-21T09:00:60Z",
        "2026-12-31T23:59:60Z", "2026-11-32T09:00:00Z", "26-11-21T09:00:00Z", "2026-11-21T09:00:61Z",
        "2026-00-21T09:00:00Z", "2026-13-21T09:00:00Z",
        "2026-11-00T09:00:00Z", "2026-11-31T09:00:00Z", "2026-02-29T09:00:00Z", "1900-02-29T09:00:00Z",
        "2024-02-30T09:00:00Z", "2026-1-21T09:00:00Z", "026-11-21T09:00:00Z", "+2026-11-21T09:00:00Z",
        "-2026-11-21T09:00:00Z", "12026-11-21T09:00:00Z", "20261121T090000Z", "2026-11-21T09:00:00.5",
        "2026-11-21T09:00:00−01:00", "２026-11-21T09:00:00Z", "2026/11/21T09:00:00Z", "2026-11-21T09.00.00Z",
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T23:59:59.9991Z", "now", "1795251600",
        "2026-11-21T09:00:00Z\0", "2026-11-21\u{14}09:00:00Z", "2026-W47-6T09:00:00Z",
    ])
    func `what is no instant is refused`(text: String) {
        #expect(throws: TextError.self) { try parse(text) }
    }

    @Test(arguments: [
        ("2026-11-21T09:00:00", "offset"), ("2026-11-21T09:00:60Z", "leap second"),
        ("2026-02-29T09:00:00Z", "no such date"), ("2026-11-21T25:00:00Z", "time of day"),
        ("2026-11-21T09:00:00+24:00", "offset"), ("9999-12-31T23:59:59-01:00", "years"), ("tomorrow", "RFC 3339"),
    ])
    func `a refusal says what is wrong`(text: String, word: String) {
        let error = #expect(throws: TextError.self) { try parse(text) }
        #expect(error?.message.contains(word) == true)
    }

    @Test func `every day of every year is written and read as the calendar counts them`() throws {
        var milliseconds = RFC3339.minimum
        var bytes: [UInt8] = []
        for year in 0...9999 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for (index, days) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                // The first day, the last and the one after it are checked: the days between are even steps.
                for day in [1, days] {
                    let instant = milliseconds + Int64(day - 1) * 86_400_000
                    bytes.removeAll(keepingCapacity: true)
                    RFC3339.append(instant, to: &bytes)
                    let date = [year / 100, year % 100, index + 1, day].map { [UInt8($0 / 10), UInt8($0 % 10)] }
                    let digits = bytes.prefix(10).filter { $0 != UInt8(ascii: "-") }.map { $0 - UInt8(ascii: "0") }
                    let back = try RFC3339.parse(bytes)
                    if digits != date.flatMap(\.self) || back != instant { Issue.record("\(text(bytes))") }
                }
                let next = "\(text(bytes).prefix(8))\(days + 1)T00:00:00Z"
                if (try? parse(next)) != nil { Issue.record("\(next)") }
                milliseconds += Int64(days) * 86_400_000
            }
        }
        #expect(milliseconds == RFC3339.maximum + 1)
    }

    @Test func `instants of all years are written and read as Foundation does`() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let instant = Int64.random(in: RFC3339.minimum...RFC3339.maximum, using: &random)
            // Foundation keeps the Julian calendar before 1582; the Gregorian one repeats every 400 years.
            let isJulian = instant < -12_219_292_800_000
            let shifted = instant + (isJulian ? 5 * 146_097 * 86_400_000 : 0)
            let second = (Double(shifted) / 1000).rounded(.down)
            let foundations = formatter.string(from: Date(timeIntervalSince1970: second))
            let ours = written(instant)
            let year = try #require(Int(ours.prefix(4))) + (isJulian ? 2000 : 0)
            #expect("\(year + 10_000)".dropFirst() + ours.dropFirst(4).prefix(15) == foundations.prefix(19))
            #expect(try parse(foundations) == Int64(second) * 1000)
            #expect(try parse(ours) == instant)
        }
    }

    @Test func `milliseconds outside the range are written as its ends`() {
        #expect(written(.min) == "0000-01-01T00:00:00.000Z")
        #expect(written(RFC3339.minimum) == "0000-01-01T00:00:00.000Z")
        #expect(written(RFC3339.maximum) == "9999-12-31T23:59:59.999Z")
        #expect(written(.max) == "9999-12-31T23:59:59.999Z")
    }

    @Test func `damaged instants never crash, and what is accepted is stable`() throws {
        var random = SeededGenerator(seed: 8)
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = Array(written(Int64.random(in: RFC3339.minimum...RFC3339.maximum, using: &random)).utf8)
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = Array("0123456789-+:.TZtz /".utf8).randomElement(using: &random) ?? 0
            }
            guard let instant = try? RFC3339.parse(bytes) else { continue }
            accepted += 1
            #expect(try parse(written(instant)) == instant)
        }
        #expect(accepted > 1000)
    }
}
