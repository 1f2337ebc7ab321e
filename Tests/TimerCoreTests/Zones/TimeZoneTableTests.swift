import TestSupport
import Testing

@testable import TimerCore

/// Zones as they are read from their files, and their offsets.
struct TimeZoneTableTests {
    private func offsets(_ bytes: [UInt8], at instants: [String]) throws -> [Int64] {
        let zone = try #require(ZoneFiles.table(bytes))
        return try instants.map { zone.offset(at: try ZoneFiles.instant($0) / 1000) }
    }

    @Test(
        arguments: [
            ("Europe/Berlin", "1850-01-01T00:00Z", 3208), ("Europe/Berlin", "1945-06-01T00:00Z", 10_800),
            ("Europe/Berlin", "2026-03-29T00:59:59Z", 3600), ("Europe/Berlin", "2026-03-29T01:00Z", 7200),
            ("Europe/Berlin", "9999-07-01T00:00Z", 7200), ("Europe/Berlin", "9999-12-31T23:59:59Z", 3600),
            ("Europe/Dublin", "2026-07-01T00:00Z", 3600), ("Europe/Dublin", "2100-01-01T00:00Z", 0),
            ("Asia/Kathmandu", "2026-01-01T00:00Z", 20_700), ("Pacific/Apia", "2011-12-30T09:59:59Z", -36_000),
            ("Pacific/Apia", "2011-12-30T10:00Z", 50_400), ("Africa/Monrovia", "1950-01-01T00:00Z", -2670),
            ("Australia/Lord_Howe", "3000-01-01T00:00Z", 39_600), ("Australia/Lord_Howe", "3000-07-01T00:00Z", 37_800),
        ] as [(String, String, Int64)])
    func `a zone has its offset`(name: String, instant: String, offset: Int64) throws {
        #expect(try offsets(ZoneFiles.bytes(name), at: [instant]) == [offset])
    }

    @Test(
        arguments: [
            ("CET-1CEST,M3.5.0,M10.5.0/3", [3600, 7200]), ("EST5EDT,M3.2.0,M11.1.0", [-18_000, -14_400]),
            ("<+0330>-3:30", [12_600, 12_600]), ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", [-7200, -3600]),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", [0, 3600]), ("AEST-10AEDT,M10.1.0,M4.1.0/3", [39_600, 36_000]),
            ("XXX3EDT4,0/0,J365/23", [-14_400, -14_400]), ("EST5EDT,0/0,J365/25", [-14_400, -14_400]),
            ("AAA0BBB,J1/0,J59/0", [3600, 0]), ("AAA0BBB,J60/0,J300", [0, 3600]), ("AAA0BBB,181/0,200", [0, 3600]),
            ("AAA0BBB-1:30:15,M4.1.0/167,M10.1.0/-167", [0, 5415]), ("UTC0", [0, 0]),
        ] as [(String, [Int64])])
    func `a footer says what holds`(text: String, expected: [Int64]) throws {
        // Leap years and common ones, near and far, each in January and in July.
        for year in ["1970", "2024", "2025", "2400", "9999"] {
            let instants = ["\(year)-01-15T12:00Z", "\(year)-07-01T12:00Z"]
            #expect(try offsets(ZoneFiles.file(footer: text), at: instants) == expected)
        }
    }

    @Test(
        arguments: [
            ("AAA0BBB,M2.5.4/24,M11.1.0", ["2024-03-01T00:00Z", "2025-02-28T00:00Z"]),
            ("AAA0BBB,J60/0,J300", ["2024-03-01T00:00Z", "2025-03-01T00:00Z"]),
            ("AAA0BBB,59/0,300", ["2024-02-29T00:00Z", "2025-03-01T00:00Z"]),
            ("AAA0BBB,M3.1.0/-1,M11.1.0", ["2024-03-02T23:00Z", "2025-03-01T23:00Z"]),
            ("AAA0BBB,M3.1.0/167,M11.1.0", ["2024-03-09T23:00Z", "2025-03-08T23:00Z"]),
            ("<-05>5BBB,M3.1.0,M11.1.0", ["2024-03-03T07:00Z", "2025-03-02T07:00Z"]),
        ])
    func `a rule changes the offset at its instant`(text: String, changes: [String]) throws {
        let zone = try #require(PosixZone(Array(text.utf8)))
        let table = try #require(ZoneFiles.table(ZoneFiles.file(footer: text)))
        for change in changes {
            let instant = try ZoneFiles.instant(change) / 1000
            #expect(table.offset(at: instant - 1) == Int64(zone.standard))
            #expect(table.offset(at: instant) == Int64(zone.standard) + 3600)
            // 400 years are a whole number of weeks.
            #expect(table.offset(at: instant + TimeZoneTable.cycle * 5) == Int64(zone.standard) + 3600)
            #expect(table.offset(at: instant + TimeZoneTable.cycle * 5 - 1) == Int64(zone.standard))
        }
    }

    @Test(arguments: [
        "", "CE-1", "CET", "CET-25", "CET-1CEST", "CET-1CEST,", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,",
        "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J365",
        "CET-1CEST,J366,J1", "CET-1CEST,366,1", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1CEST,M3.5.0/2:60,M10.5.0",
        "<+03-3", "<+0>-3", "C3T-1", "CET-1CEST,M3.5.0,M10.5.0/3 ", "CET-1CEST,M3.5.0,M10.5.0,J1", "CET--1",
    ])
    func `a text that is no rule is refused`(text: String) { #expect(PosixZone(Array(text.utf8)) == nil) }

    @Test func `the transitions of a file come first, then its rule`() throws {
        let bytes = ZoneFiles.file(
            transitions: [0, 1_000_000_000], offsets: [100, -200, 3600], footer: "CET-1CEST,M3.5.0,M10.5.0/3")
        let expected: [Int64] = [100, -200, -200, 3600, 3600, 7200, 7200]
        let instants = [
            "1969-12-31T23:59:59Z", "1970-01-01T00:00Z", "2001-09-09T01:46:39Z", "2001-09-09T01:46:40Z",
            "2002-03-31T00:59:59Z", "2002-03-31T01:00Z", "2003-07-01T00:00Z",
        ]
        #expect(try offsets(bytes, at: instants) == expected)
    }

    @Test func `without a footer the last offset stays`() throws {
        let bytes = ZoneFiles.file(transitions: [0], offsets: [100, -200], footer: "")
        #expect(try offsets(bytes, at: ["1969-12-31T23:59Z", "9999-01-01T00:00Z"]) == [100, -200])
    }

    @Test func `a change back and forth within the hour fires each local time once`() throws {
        // The clock goes from 03:00 back to 02:00, and at 02:30 on to 04:00: 02:00 to 02:30 comes twice, 03:00 to
        // 04:00 never.
        let bytes = ZoneFiles.file(transitions: [10_800, 12_600], offsets: [0, -3600, 1800], footer: "")
        let zone = try #require(ZoneFiles.table(bytes))
        let schedule = try CronSchedule("0,45 0,1,2,3,4 * * *")
        #expect(
            schedule.fires(after: 7_100_000, in: zone, count: 4) == [7200, 9900, 12_600, 15_300].map { $0 * 1000 })
        let other = try CronSchedule("15 2,4 * * *")
        #expect(other.fires(after: 0, in: zone, count: 2) == [8100, 13_500].map { $0 * 1000 })
    }

    @Test func `a small step forward brings no local time that was there before`() throws {
        // The clock goes from 03:00 back to 02:00, and at 02:30 on to 02:45: every time up to 03:00 has been before.
        let zone = try #require(
            ZoneFiles.table(ZoneFiles.file(transitions: [10_800, 12_600], offsets: [0, -3600, -2700], footer: "")))
        let schedule = try CronSchedule("35,50 2,3 * * *")
        #expect(schedule.fires(after: 0, in: zone, count: 4) == [9300, 10_200, 15_600, 16_500].map { $0 * 1000 })
    }

    @Test func `files that are none are refused`() throws {
        let good = ZoneFiles.file(transitions: [0, 5], offsets: [0, 1, 2], footer: "CET-1")
        let bad: [[UInt8]] = [
            [], Array("TZif".utf8), ZoneFiles.file(transitions: [5, 5], offsets: [0, 1, 2], footer: ""),
            ZoneFiles.file(transitions: [5, 4], offsets: [0, 1, 2], footer: ""),
            ZoneFiles.file(transitions: [5], offsets: [0], footer: ""),
            ZoneFiles.file(transitions: [.max], offsets: [0, 1], footer: ""),
            ZoneFiles.file(transitions: [], offsets: [100_000], footer: ""),
            ZoneFiles.file(transitions: [], offsets: [0], footer: "nonsense"),
            ZoneFiles.file(transitions: [], offsets: [0], footer: "UTC0", leapSeconds: 1),
            ZoneFiles.file(transitions: [], offsets: [0], footer: "UTC0", version: 53),
            good + [UInt8](repeating: 0, count: TimeZoneTable.tzifLimit),
        ]
        #expect(ZoneFiles.table(good) != nil)
        for bytes in bad { #expect(ZoneFiles.table(bytes) == nil) }
    }

    @Test func `the 32-bit block of a version 1 file is read`() throws {
        var bytes = Array("TZif".utf8) + [UInt8](repeating: 0, count: 16)
        for count in [0, 0, 0, 1, 2, 0] { bytes += [0, 0, 0, UInt8(count)] }
        bytes += [0xFF, 0xFF, 0xFF, 0xFF, 1] + [0, 0, 0, 7, 0, 0] + [0, 0, 0, 9, 0, 0]
        #expect(try offsets(bytes, at: ["1969-12-31T23:59:58Z", "1969-12-31T23:59:59Z"]) == [7, 9])
    }

    @Test(arguments: ["Europe/Berlin", "Africa/Casablanca", "Asia/Tokyo"])
    func `no damage to a file does harm`(name: String) throws {
        let bytes = try ZoneFiles.bytes(name)
        let schedule = try CronSchedule("30 2 * * *")
        var random = SeededGenerator(seed: 21)
        func use(_ damaged: [UInt8]) {
            guard let zone = ZoneFiles.table(damaged) else { return }
            let start = random.number(-70_000_000_000_000...260_000_000_000_000)
            let fires = schedule.fires(after: start, in: zone, count: 3)
            #expect(fires == fires.sorted())
            _ = schedule.latest(after: start, through: start + 10_000_000_000, in: zone)
        }
        for length in bytes.indices { #expect(ZoneFiles.table(Array(bytes[..<length])) == nil) }
        for _ in 0..<3000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: damaged.indices, using: &random)
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            use(damaged)
            let noise = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            use(Array(bytes.prefix(20)) + noise)
            use(noise)
        }
    }
}
