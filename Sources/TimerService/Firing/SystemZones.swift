import Platform
import Primitives
public import TimerCore

/// The time zones of this machine, from its files in TZif format.
///
/// A zone is read once and then kept; after an update of the files a restart sees the new rules. Names that were not
/// found are not kept, so that clients can't fill the memory with them.
public final class SystemZones: ZoneSource, Sendable {
    private let directory: String
    private let found = Guarded<[[UInt8]: TimeZoneTable]>([:])

    /// The most bytes of a name: longer ones are refused unread. The longest that exists has 32.
    private static let nameLimit = 64

    /// - Parameter directory: the directory of the files; there may be none, as UTC is known without.
    public init(directory: String = "/usr/share/zoneinfo") { self.directory = directory }

    /// Returns the zone of that IANA name; nil when there is none, or when its file can't be read.
    ///
    /// Names are case-sensitive. `right/` zones, which count leap seconds, are refused; `posix/` ones are copies of
    /// the others and are taken where they are installed.
    public func zone(named name: [UInt8]) -> TimeZoneTable? {
        if name == Array("UTC".utf8) { return .utc }
        guard Self.isName(name) else { return nil }
        if let known = found.withLock({ $0[name] }) { return known }
        // Read without the lock: two threads may read one file, and both find the same.
        let path = "\(directory)/\(String(decoding: name, as: UTF8.self))"
        guard let bytes = FileBytes.read(path, limit: TimeZoneTable.tzifLimit),
            let table = TimeZoneTable(tzif: bytes.span)
        else { return nil }
        found.withLock { $0[name] = table }
        return table
    }

    /// Whether `name` may be part of a path: segments of letters, digits and `_+-`, so without dots.
    private static func isName(_ name: [UInt8]) -> Bool {
        guard (1...nameLimit).contains(name.count), !name.starts(with: "right/".utf8) else { return false }
        return name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { segment in
            !segment.isEmpty && segment.allSatisfy { Alphanumeric.contains($0) || "_+-".utf8.contains($0) }
        }
    }
}
