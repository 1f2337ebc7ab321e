import TestSupport
import Testing
import WireJSON

@Suite struct DurationTextTests {
    private func parse(_ text: String) throws(TextError) -> Int64 { try DurationText.parse(Array(text.utf8)) }

    private func written(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        DurationText.append(milliseconds, to: &bytes)
        return text(bytes)
    }

    @Test(
        arguments: [
            ("250ms", 250), ("10s", 10_000), ("1m30s", 90_000), ("1.5s", 1500), ("7d", 604_800_000), ("0s", 0),
            ("0ms", 0),
            ("0d", 0), ("1h", 3_600_000), ("1d2h3m4s5ms", 93_784_005), ("1m5ms", 60_005), ("90m", 5_400_000),
            ("1.5h", 5_400_000),
            ("1m30.5s", 90_500), ("0.001s", 1), ("0.0010000000000000000s", 1), ("1.0ms", 1), ("007s", 7000),
            ("0.00001d", 864), ("0.0009765625d", 84_375), ("36525d", DurationText.maximum),
            ("3155760000s", DurationText.maximum),
            ("36524d24h", DurationText.maximum), ("36524.99999d", DurationText.maximum - 864),
            ("00000000000000000000001s", 1000),
            ("P7D", 604_800_000), ("PT1M30S", 90_000), ("PT1.5S", 1500), ("P1DT2H", 93_600_000), ("P2W", 1_209_600_000),
            ("PT0S", 0), ("P0D", 0), ("PT36H", 129_600_000), ("P1DT2H3M4.005S", 93_784_005), ("P0.5W", 302_400_000),
            ("P1.5D", 129_600_000), ("PT1H0.5S", 3_600_500), ("P36525D", DurationText.maximum), ("PT0.001S", 1),
            ("P0.0009765625W", 590_625),
            ("90s", 90_000), ("24h", 86_400_000), ("1500ms", 1500), ("3600000ms", 3_600_000), ("0.5h", 1_800_000),
            ("PT0.25S", 250), ("P1DT1H", 90_000_000), ("36524d23h59m59s999ms", DurationText.maximum - 1),
        ] as [(String, Int64)])
    func `a duration is read exactly`(text: String, expected: Int64) throws {
        #expect(try parse(text) == expected)
    }

    @Test(
        arguments: [
            ("", "empty"), ("10", "no unit"), ("1.5", "no unit"), ("1m30", "no unit"), ("0", "no unit"),
            ("-5s", "negative"),
            ("-PT5S", "negative"), ("PT-5S", "negative"), ("P-1D", "negative"), ("1m-5s", "negative"),
            ("-", "negative"),
            ("0.5ms", "finer"), ("1.0005s", "finer"), ("0.000001h", "finer"), ("0.1234567890123456789d", "finer"),
            ("PT0.0001S", "finer"), ("0.00000000001d", "finer"), ("0.000000001d", "finer"),
            ("36525d1ms", "36525 days"), ("36526d", "36525 days"), ("36525.00001d", "36525 days"),
            ("P5218W", "36525 days"),
            ("99999999999999999999999999s", "36525 days"), ("3155760000.001s", "36525 days"),
            ("3155760000001ms", "36525 days"),
            ("30s1m", "long to short"), ("1s1s", "long to short"), ("1ms1s", "long to short"),
            ("1s1m", "long to short"),
            ("PT1S1M", "long to short"), ("PT1S1S", "long to short"), ("P1D1D", "long to short"),
            ("1.5m30s", "last part"), ("1.0h1m", "last part"), ("PT1.5M30S", "last part"), ("P1.5DT1H", "last part"),
            ("P1Y", "years and months"), ("P1M", "years and months"), ("P1Y2M3D", "years and months"),
            ("P1DT", "not a duration"), ("P", "not a duration"), ("PT", "not a duration"), ("PT5", "not a duration"),
            ("P5", "not a duration"), ("P5S", "follow a T"), ("P1H", "follow a T"), ("PT1D", "not a duration"),
            ("P1W2D", "stand alone"), ("P2D1W", "stand alone"), ("P1WT1H", "stand alone"), ("pt5s", "upper case"),
            ("p1D", "upper case"), ("PT5s", "upper case"), ("P1d", "upper case"), ("P1Dt1H", "not a duration"),
            ("s", "not a duration"), ("ms", "not a duration"), (".5s", "not a duration"), ("1.s", "not a duration"),
            ("1..5s", "not a duration"), ("1,5s", "not a duration"), ("PT1,5S", "not a duration"),
            ("+5s", "not a duration"),
            ("5 s", "not a duration"), (" 5s", "not a duration"), ("5s ", "not a duration"), ("5S", "not a duration"),
            ("5w", "not a duration"), ("5y", "not a duration"), ("5us", "not a duration"), ("5sec", "not a duration"),
            ("1e3s", "not a duration"), ("0x5s", "not a duration"), ("5m s", "not a duration"),
            ("forever", "not a duration"),
            (" ", "not a duration"), ("NaN", "not a duration"), ("inf", "not a duration"), ("1s2", "no unit"),
            ("５s", "not a duration"), ("5s\0", "not a duration"), ("1m30s,", "not a duration"), ("é", "not a duration"),
        ] as [(String, String)])
    func `what is no duration is refused with the reason`(text: String, word: String) {
        let error = #expect(throws: TextError.self) { try parse(text) }
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
    }

    @Test(
        arguments: [
            (0, "0s"), (1, "1ms"), (999, "999ms"), (1000, "1s"), (1500, "1s500ms"), (60_000, "1m"), (90_000, "1m30s"),
            (3_600_000, "1h"), (86_400_000, "1d"), (93_784_005, "1d2h3m4s5ms"), (86_400_001, "1d1ms"),
            (604_800_000, "7d"),
            (DurationText.maximum, "36525d"), (-1, "0s"), (.min, "0s"), (.max, "106751991167d7h12m55s807ms"),
        ] as [(Int64, String)])
    func `a duration is written from its largest unit down, without zero parts`(value: Int64, expected: String) {
        #expect(written(value) == expected)
    }

    @Test func `the maximum is a century of days`() {
        #expect(DurationText.maximum == 36_525 * 24 * 60 * 60 * 1000)
    }

    @Test func `what is written reads back`() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<20_000 {
            let value =
                Int64.random(in: 0...DurationText.maximum, using: &random) >> Int64.random(in: 0..<40, using: &random)
            #expect(try parse(written(value)) == value)
        }
    }

    @Test func `every decimal of a unit reads as the same number of milliseconds`() throws {
        var random = SeededGenerator(seed: 6)
        let units: [(String, String, Int64)] = [
            ("s", "PT%S", 1000), ("m", "PT%M", 60_000), ("h", "PT%H", 3_600_000), ("d", "P%D", 86_400_000),
        ]
        for _ in 0..<5000 {
            let (compact, iso, unit) = units[Int.random(in: 0..<units.count, using: &random)]
            let whole = Int64.random(in: 0..<1000, using: &random)
            let thousandths = Int64.random(in: 0..<1000, using: &random)
            let decimal = "\(whole).\(String(thousandths + 1000).dropFirst())"
            let expected = whole * unit + thousandths * unit / 1000
            #expect(try parse(decimal + compact) == expected)
            #expect(try parse(iso.split(separator: "%").joined(separator: decimal)) == expected)
        }
    }

    @Test func `damaged durations never crash, and what is accepted is in range`() {
        var random = SeededGenerator(seed: 7)
        var accepted = 0
        for _ in 0..<50_000 {
            let alphabet = random.chance(oneIn: 2) ? Array("0123456789.dhms".utf8) : Array("PT0123456789.WDHMSYx-".utf8)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<8, using: &random) {
                bytes.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
            }
            guard let value = try? DurationText.parse(bytes) else { continue }
            accepted += 1
            if value < 0 || value > DurationText.maximum { Issue.record("\(text(bytes))") }
        }
        #expect(accepted > 500)
    }
}
