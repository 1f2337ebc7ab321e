import Foundation
import TestSupport
import Testing
import TimerCore

@testable import TimerService

struct SystemZonesTests {
    private func zone(_ name: String, in zones: SystemZones = SystemZones()) -> TimeZoneTable? {
        zones.zone(named: Array(name.utf8))
    }

    @Test(arguments: ["Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Africa/Porto-Novo", "EST5EDT"])
    func `a zone of this machine is found`(name: String) { #expect(zone(name) != nil) }

    @Test func `a zone has its own offset`() {
        #expect(zone("Etc/GMT+5")?.offset(at: 0) == -18_000)
        #expect(zone("Asia/Kathmandu")?.offset(at: 1_700_000_000) == 20_700)
    }

    @Test(arguments: [
        "", "Europe", "Europe/", "/Europe/Berlin", "Europe//Berlin", "../zoneinfo/UTC", "Europe/../Europe/Berlin",
        "./UTC",
        "Europe/Berlin\0", "right/Europe/Berlin", "tzdata.zi", "Mars/Olympus", "Europe/B\u{E9}rlin",
        String(repeating: "a", count: 65), "leapseconds", "posixrules/x", "europe/berlin ",
    ])
    func `what is no zone is not found`(name: String) { #expect(zone(name) == nil) }

    @Test func `every zone of this machine is meant by its name in small letters`() throws {
        let zones = SystemZones()
        let names = try FileManager.default.subpathsOfDirectory(atPath: "/usr/share/zoneinfo").filter { name in
            name.contains { $0.isUppercase } && !name.hasPrefix("posix/") && zone(name, in: zones) != nil
        }
        #expect(names.count > 300)
        for name in names where zone(name.lowercased(), in: zones) == nil {
            let message = UnknownZone(Array(name.lowercased().utf8), in: zones).message
            #expect(message.hasSuffix("; did you mean \(name)"))
        }
    }

    @Test func `UTC is known without any files`() {
        let zones = SystemZones(directory: "/nowhere")
        #expect(zone("UTC", in: zones) == .utc)
        #expect(zone("Europe/Berlin", in: zones) == nil)
    }

    @Test func `a zone is read once, and one that was missing is looked for again`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let zones = SystemZones(directory: directory.path)
        #expect(zone("Here", in: zones) == nil)
        try directory.write("Here", Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Asia/Tokyo")))
        #expect(zone("Here", in: zones)?.offset(at: 0) == 32_400)
        try FileManager.default.removeItem(atPath: directory.file("Here"))
        #expect(zone("Here", in: zones)?.offset(at: 0) == 32_400)
        try directory.write("Broken", Data("no zone".utf8))
        #expect(zone("Broken", in: zones) == nil)
    }
}
