import TestSupport
import Testing

@testable import TimerCore

/// The data of time zones that a log keeps.
struct ZoneDataTests {
    private static let now: Int64 = 1_800_000_000_000
    private static let year: Int64 = 366 * 86_400

    @Test(arguments: [
        "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Europe/Dublin",
        "Asia/Kathmandu", "Pacific/Apia", "America/Nuuk", "Asia/Gaza",
    ])
    func `kept data have the offsets of the zone from a year before on`(_ name: String) throws {
        let zone = try ZoneFiles.zone(name)
        let data = ZoneData(zone, around: Self.now)
        let kept = try #require(ZoneData(decoding: data.bytes))
        #expect(kept == data && kept.isData(of: zone))
        let table = kept.table
        let begin = Self.now / 1000 - Self.year
        var instant = begin
        while instant < 33_000_000_000 {
            #expect(table.offset(at: instant) == zone.offset(at: instant), "\(instant)")
            // Each segment's first instant, and steps of some months between.
            let end = zone.segment(at: instant).end
            instant = min(end, instant + 10_000_000)
        }
        #expect(table.offset(at: begin - 1) == zone.offset(at: begin))
        // A zone by the data that are kept of it is the same zone.
        #expect(kept.isData(of: table))
    }

    @Test func `changes of the past make no other data, changes ahead do`() throws {
        func zone(_ transitions: [Int64], _ footer: String = "AAA-1") throws -> TimeZoneTable {
            let offsets = transitions.indices.map { Int32($0 % 2) * 3600 }
            return try #require(
                ZoneFiles.table(ZoneFiles.file(transitions: transitions, offsets: [0] + offsets, footer: footer)))
        }
        let now = Self.now / 1000
        let data = ZoneData(try zone([100, 200, now + 100, now + 200]), around: Self.now)
        #expect(data.isData(of: try zone([150, 200, now + 100, now + 200])))
        #expect(!data.isData(of: try zone([100, 200, now + 101, now + 200])))
        #expect(!data.isData(of: try zone([100, 200])))
        #expect(!data.isData(of: try zone([100, 200, now + 100, now + 200], "AAA-1BBB,M3.5.0,M10.5.0")))
    }

    @Test func `data are read whole or not at all`() throws {
        let bytes = ZoneData(try ZoneFiles.zone("Europe/Berlin"), around: Self.now).bytes
        for count in bytes.indices { #expect(ZoneData(decoding: Array(bytes[..<count])) == nil, "\(count)") }
        #expect(ZoneData(decoding: bytes + [0]) == nil)
        func isRead(_ parts: [Int64], _ rule: String = "") -> Bool {
            var bytes: [UInt8] = []
            for (index, part) in parts.enumerated() {
                if index == 2 || (index > 2 && index % 2 == 1) {
                    ByteCoding.append(UInt64(bitPattern: part), to: &bytes)
                } else {
                    ByteCoding.append(signed: part, to: &bytes)
                }
            }
            ByteCoding.append(run: Array(rule.utf8), to: &bytes)
            return ZoneData(decoding: bytes) != nil
        }
        #expect(isRead([5, 3600, 1, 10, 0]) && isRead([5, 3600, 0], "CET-1"))
        #expect(!isRead([1 << 60, 0, 0]), "no instant is so far")
        #expect(!isRead([5, 1 << 20, 0]) && !isRead([5, 0, 1, 10, 1 << 20]), "no offset is so large")
        #expect(!isRead([5, 0, 1, 0, 0]) && !isRead([5, 0, 1, -1, 0]), "changes ascend")
        #expect(!isRead([5, 0, 2, 1 << 59, 0, 1 << 59, 0]), "no instant is so far")
        #expect(!isRead([5, 0, 0], "no rule"))
        #expect(!isRead([5, 0, 8193]), "there are fewer")
    }
}
