import Foundation

@testable import TimerCore

/// Time zones of this machine, and instants as people write them.
enum ZoneFiles {
    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)")))
    }

    static func zone(_ name: String) throws -> TimeZoneTable {
        if name == "UTC" { return .utc }
        guard let table = table(try bytes(name)) else { throw CocoaError(.fileReadCorruptFile) }
        return table
    }

    /// Reads a zone from an array, as the testing macros take no spans.
    static func table(_ bytes: [UInt8]) -> TimeZoneTable? { TimeZoneTable(tzif: bytes.span) }

    /// A file of version 3 without transitions whose footer says everything.
    static func file(footer: String) -> [UInt8] { file(transitions: [], offsets: [0], footer: footer) }

    /// A file in which the transition n begins the offset n + 1; the first offset is that before.
    static func file(
        transitions: [Int64], offsets: [Int32], footer: String, leapSeconds: Int32 = 0, version: UInt8 = 51
    ) -> [UInt8] {
        let counts = [0, 0, leapSeconds, Int32(transitions.count), Int32(offsets.count), 4]
        let header = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
        var block = header + counts.flatMap(bigEndian)
        block += transitions.flatMap(bigEndian) + transitions.indices.map { UInt8($0 + 1) }
        block += offsets.flatMap { bigEndian($0) + [0, 0] } + Array("LMT\0".utf8)
        block += [UInt8](repeating: 0, count: Int(leapSeconds) * 12)
        let empty = header + [0, 0, 0, 0, 1, 0].flatMap { bigEndian(Int32($0)) } + [UInt8](repeating: 0, count: 6)
        return empty + block + Array("\n\(footer)\n".utf8)
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        let size = value.bitWidth / 8
        return (0..<size).map { UInt8(truncatingIfNeeded: value >> ((size - 1 - $0) * 8)) }
    }

    /// Wall milliseconds of `2026-03-29T01:00:00Z`; the seconds may be left out.
    static func instant(_ text: String) throws -> Int64 {
        let full = text.count == 17 ? text.dropLast() + ":00Z" : Substring(text)
        return Int64(try Date(String(full), strategy: .iso8601).timeIntervalSince1970) * 1000
    }

    /// The text of an instant, the inverse of `instant`; whole minutes are without seconds.
    static func text(_ instant: Int64) -> String {
        let text = Date(timeIntervalSince1970: Double(instant / 1000)).formatted(.iso8601)
        return text.hasSuffix(":00Z") ? text.dropLast(4) + "Z" : text
    }
}

/// The time zones of this machine.
struct FileZones: ZoneSource {
    func zone(named name: [UInt8]) -> TimeZoneTable? {
        try? ZoneFiles.zone(String(decoding: name, as: UTF8.self))
    }
}

extension CronSchedule {
    init(_ text: String, from: Int64? = nil) throws {
        try self.init(Array(text.utf8), zone: Array("UTC".utf8), from: from)
    }

    /// The first `count` instants after one, as text.
    func fires(after start: String, in zone: TimeZoneTable = .utc, count: Int) throws -> [String] {
        fires(after: try ZoneFiles.instant(start), in: zone, count: count).map(ZoneFiles.text)
    }

    func fires(after start: Int64, in zone: TimeZoneTable, count: Int) -> [Int64] {
        Array(
            sequence(state: start) { last in
                guard let next = next(after: last, in: zone) else { return nil }
                last = next
                return next
            }.prefix(count))
    }
}
