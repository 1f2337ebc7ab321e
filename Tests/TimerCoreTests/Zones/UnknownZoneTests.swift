import Testing

@testable import TimerCore

/// The advice for a name that is no time zone's.
struct UnknownZoneTests {
    /// A source of a few names.
    private struct Zones: ZoneSource {
        let names: Set = [
            "Europe/Berlin", "America/New_York", "America/Port-au-Prince", "Africa/Dar_es_Salaam", "Etc/GMT+5", "UTC",
            "CET", "localtime", "posixrules",
            "US/Eastern", "Antarctica/McMurdo", "America/Argentina/Buenos_Aires", "Australia/NSW",
        ]

        func zone(named name: [UInt8]) -> TimeZoneTable? {
            names.contains(String(decoding: name, as: UTF8.self)) ? .utc : nil
        }
    }

    private func message(_ name: String) -> String { UnknownZone(Array(name.utf8), in: Zones()).message }

    @Test func `every name of the source is found in another case`() {
        for name in Zones().names where !UnknownZone.isOfMachine(Array(name.utf8)) {
            for wrong in [name.lowercased(), name.uppercased()] where wrong != name {
                #expect(message(wrong) == "there is no time zone `\(wrong)`; did you mean \(name)")
            }
        }
    }

    @Test(arguments: [
        "W. Europe Standard Time": "Europe/Berlin", "Eastern Daylight Time": "America/New_York",
        "Syria Standard Time": "such as Europe/Berlin",
    ])
    func `a name of Windows is told the zone's own`(name: String, zone: String) {
        #expect(
            message(name) == "there is no time zone `\(name)`; zones have IANA names, not those of Windows: \(zone)")
    }

    @Test(arguments: ["CEST": "Europe/Berlin", "pst": "America/Los_Angeles", "XYZ": "such as Europe/Berlin"])
    func `an abbreviation is told a zone's name`(name: String, zone: String) {
        let advice = "zones have IANA names, not abbreviations, which name only summer or winter time: \(zone)"
        #expect(message(name) == "there is no time zone `\(name)`; \(advice)")
    }

    @Test(arguments: [
        "+02:00": "; that offset in all the year is Etc/GMT-2", "UTC+2": "; that offset in all the year is Etc/GMT-2",
        "GMT-05:00": "; that offset in all the year is Etc/GMT+5", "-0330": "", "+15": "", "-13": "",
        "+00:00": ", or UTC",
    ])
    func `an offset is told what a zone is`(name: String, rest: String) {
        let advice = "zones have IANA names, such as Europe/Berlin, and follow summer time, which an offset does not"
        #expect(message(name) == "there is no time zone `\(name)`; \(advice)\(rest)")
    }

    @Test(arguments: ["localtime", "posixrules"])
    func `the zone of a machine can't be named`(name: String) {
        #expect(!Zones().offers(Array(name.utf8)) && Zones().offers(Array("Europe/Berlin".utf8)))
        #expect(
            message(name).hasSuffix("; it differs from machine to machine: name the zone itself, such as Europe/Berlin")
        )
    }

    @Test(arguments: ["", "Mars/Olympus", "Europe/Pariss", "/", "+", "+24", "+1:2", "UTC+", "+02:60", "+123456", "a.b"])
    func `other names are only shown`(name: String) { #expect(message(name) == "there is no time zone `\(name)`") }

    @Test func `a long or invisible name is cut and made visible`() {
        #expect(message(String(repeating: "x", count: 5000)).utf8.count < 80)
        #expect(message("Europe/\u{202E}Berlin") == "there is no time zone `Europe/<U+202E>Berlin`")
    }
}
