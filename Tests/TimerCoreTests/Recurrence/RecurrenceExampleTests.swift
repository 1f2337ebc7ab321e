import Testing

@testable import TimerCore

/// The examples of RFC 5545, 3.8.5.3. All are in the time zone of New York; local times are 09:00 unless shown.
struct RecurrenceExampleTests {
    struct Case: CustomTestStringConvertible {
        let rule: String
        /// The local day of DTSTART.
        let from: String
        /// Whether the instants are all there are.
        let ends: Bool
        let expected: [String]

        init(_ rule: String, from: String, ends: Bool = false, _ expected: String) {
            self.rule = rule
            self.from = from
            self.ends = ends
            self.expected = expected.split(separator: " ").map(String.init)
        }

        var testDescription: String { rule }

        func schedule(in zone: TimeZoneTable) throws -> RecurrenceSchedule {
            let digits = Array(from)
            let day = "\(String(digits[0..<4]))-\(String(digits[4..<6]))-\(String(digits[6..<8]))"
            let local = try ZoneFiles.instant("\(day)T09:00Z") / 1000
            return try RecurrenceSchedule(
                Array(rule.utf8), zone: Array("America/New_York".utf8), from: zone.instant(ofLocal: local) * 1000)
        }
    }

    /// The local time of an instant, such as `19970902`, or `19970902T0920` when it is not at 09:00.
    private static func text(_ instant: Int64, in zone: TimeZoneTable) -> String {
        let local = ZoneFiles.text(instant + zone.offset(at: instant / 1000) * 1000)
        let digits = local.filter { $0.isNumber || $0 == "T" }
        return digits.hasSuffix("T0900") ? String(digits.dropLast(5)) : digits
    }

    @Test(arguments: [
        Case(
            "FREQ=DAILY;COUNT=10", from: "19970902", ends: true,
            "19970902 19970903 19970904 19970905 19970906 19970907 19970908 19970909 19970910 19970911"),
        Case(
            "FREQ=DAILY;INTERVAL=2", from: "19970902",
            "19970902 19970904 19970906 19970908 19970910 19970912 19970914 19970916 19970918 19970920 19970922 "
                + "19970924 19970926 19970928 19970930 19971002 19971004 19971006"),
        Case(
            "FREQ=DAILY;INTERVAL=10;COUNT=5", from: "19970902", ends: true,
            "19970902 19970912 19970922 19971002 19971012"),
        Case(
            "FREQ=WEEKLY;COUNT=10", from: "19970902", ends: true,
            "19970902 19970909 19970916 19970923 19970930 19971007 19971014 19971021 19971028 19971104"),
        Case(
            "FREQ=WEEKLY;UNTIL=19971224T000000Z", from: "19970902", ends: true,
            "19970902 19970909 19970916 19970923 19970930 19971007 19971014 19971021 19971028 19971104 19971111 "
                + "19971118 19971125 19971202 19971209 19971216 19971223"),
        Case(
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU", from: "19970902",
            "19970902 19970916 19970930 19971014 19971028 19971111 19971125 19971209 19971223 19980106 19980120 "
                + "19980203 19980217"),
        Case(
            "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH", from: "19970902", ends: true,
            "19970902 19970904 19970909 19970911 19970916 19970918 19970923 19970925 19970930 19971002"),
        Case(
            "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", from: "19970902", ends: true,
            "19970902 19970904 19970909 19970911 19970916 19970918 19970923 19970925 19970930 19971002"),
        Case(
            "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR", from: "19970901", ends: true,
            "19970901 19970903 19970905 19970915 19970917 19970919 19970929 19971001 19971003 19971013 19971015 "
                + "19971017 19971027 19971029 19971031 19971110 19971112 19971114 19971124 19971126 19971128 19971208 "
                + "19971210 19971212 19971222"),
        Case(
            "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", from: "19970902", ends: true,
            "19970902 19970904 19970916 19970918 19970930 19971002 19971014 19971016"),
        Case(
            "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", from: "19970905", ends: true,
            "19970905 19971003 19971107 19971205 19980102 19980206 19980306 19980403 19980501 19980605"),
        Case(
            "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", from: "19970905", ends: true,
            "19970905 19971003 19971107 19971205"),
        Case(
            "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", from: "19970907", ends: true,
            "19970907 19970928 19971102 19971130 19980104 19980125 19980301 19980329 19980503 19980531"),
        Case(
            "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", from: "19970922", ends: true,
            "19970922 19971020 19971117 19971222 19980119 19980216"),
        Case(
            "FREQ=MONTHLY;BYMONTHDAY=-3", from: "19970928",
            "19970928 19971029 19971128 19971229 19980129 19980226"),
        Case(
            "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15", from: "19970902", ends: true,
            "19970902 19970915 19971002 19971015 19971102 19971115 19971202 19971215 19980102 19980115"),
        Case(
            "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", from: "19970930", ends: true,
            "19970930 19971001 19971031 19971101 19971130 19971201 19971231 19980101 19980131 19980201"),
        Case(
            "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", from: "19970910", ends: true,
            "19970910 19970911 19970912 19970913 19970914 19970915 19990310 19990311 19990312 19990313"),
        Case(
            "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU", from: "19970902",
            "19970902 19970909 19970916 19970923 19970930 19971104 19971111 19971118 19971125 19980106 19980113 "
                + "19980120 19980127 19980303 19980310 19980317 19980324 19980331"),
        Case(
            "FREQ=YEARLY;COUNT=10;BYMONTH=6,7", from: "19970610", ends: true,
            "19970610 19970710 19980610 19980710 19990610 19990710 20000610 20000710 20010610 20010710"),
        Case(
            "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3", from: "19970310", ends: true,
            "19970310 19990110 19990210 19990310 20010110 20010210 20010310 20030110 20030210 20030310"),
        Case(
            "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", from: "19970101", ends: true,
            "19970101 19970410 19970719 20000101 20000409 20000718 20030101 20030410 20030719 20060101"),
        Case(
            "FREQ=YEARLY;BYDAY=20MO", from: "19970519",
            "19970519 19980518 19990517"),
        Case(
            "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", from: "19970512",
            "19970512 19980511 19990517"),
        Case(
            "FREQ=YEARLY;BYMONTH=3;BYDAY=TH", from: "19970313",
            "19970313 19970320 19970327 19980305 19980312 19980319 19980326 19990304 19990311 19990318 19990325"),
        Case(
            "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8", from: "19970605",
            "19970605 19970612 19970619 19970626 19970703 19970710 19970717 19970724 19970731 19970807 19970814 "
                + "19970821 19970828 19980604 19980611 19980618 19980625 19980702 19980709 19980716 19980723 19980730 "
                + "19980806 19980813 19980820 19980827"),
        Case(
            "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", from: "19970902",
            "19980213 19980313 19981113 19990813 20001013"),
        Case(
            "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13", from: "19970913",
            "19970913 19971011 19971108 19971213 19980110 19980207 19980307 19980411 19980509 19980613"),
        Case(
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", from: "19961105",
            "19961105 20001107 20041102"),
        Case(
            "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", from: "19970904", ends: true,
            "19970904 19971007 19971106"),
        Case(
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", from: "19970929",
            "19970929 19971030 19971127 19971230 19980129 19980226 19980330"),
        Case(
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", from: "19970805", ends: true,
            "19970805 19970810 19970819 19970824"),
        Case(
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", from: "19970805", ends: true,
            "19970805 19970817 19970819 19970831"),
        Case(
            "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", from: "20070115", ends: true,
            "20070115 20070130 20070215 20070315 20070330"),
    ])
    func `an example gives its instants`(test: Case) throws {
        let zone = try ZoneFiles.zone("America/New_York")
        let schedule = try test.schedule(in: zone)
        let fires = schedule.fires(after: schedule.from - 1, in: zone, count: test.expected.count + (test.ends ? 1 : 0))
        #expect(fires.map { Self.text($0, in: zone) } == test.expected)
        let latest = schedule.latest(after: schedule.from - 1, through: fires.last ?? 0, in: zone)
        #expect(latest?.instant == fires.last && latest?.count == Int64(fires.count))
    }

    @Test(arguments: [
        (Case("FREQ=DAILY;UNTIL=19971224T000000Z", from: "19970902", "19970902 19971223"), 113),
        (
            Case(
                "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA", from: "19980101",
                "19980101 20000131"), 93
        ),
        (Case("FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", from: "19980101", "19980101 20000131"), 93),
    ])
    func `a long example has its first, its last and their number`(test: Case, count: Int) throws {
        let zone = try ZoneFiles.zone("America/New_York")
        let schedule = try test.schedule(in: zone)
        let fires = schedule.fires(after: schedule.from - 1, in: zone, count: count + 1)
        #expect(fires.count == count)
        #expect([fires[0], fires[fires.count - 1]].map { Self.text($0, in: zone) } == test.expected)
    }

    @Test func `every 20 minutes of the working day`() throws {
        let zone = try ZoneFiles.zone("America/New_York")
        let rule = "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40"
        let schedule = try Case(rule, from: "19970902", "").schedule(in: zone)
        let fires = schedule.fires(after: schedule.from - 1, in: zone, count: 25).map { Self.text($0, in: zone) }
        #expect(fires.prefix(4) == ["19970902", "19970902T0920", "19970902T0940", "19970902T1000"])
        #expect(fires.suffix(2) == ["19970902T1640", "19970903"])
    }

    @Test(arguments: [
        "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z", "FREQ=MINUTELY;INTERVAL=15;COUNT=6",
        "FREQ=MINUTELY;INTERVAL=90;COUNT=4", "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16",
    ])
    func `an example below a day is refused`(rule: String) throws {
        let frequency = rule.dropFirst(5).prefix { $0 != ";" }
        let message =
            "FREQ: \(frequency) is none of DAILY WEEKLY MONTHLY YEARLY: for periods below a day use the field `every` or "
            + "`cron` instead of `rrule`"
        #expect(throws: RecurrenceError(message)) { try RecurrenceSchedule(rule, from: "1997-09-02T13:00Z") }
    }
}
