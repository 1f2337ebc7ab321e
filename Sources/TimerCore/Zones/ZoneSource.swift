/// Where the scheduler finds time zones.
public protocol ZoneSource: Sendable {
    /// The zone of that IANA name; nil when there is none.
    func zone(named name: [UInt8]) -> TimeZoneTable?
}

/// Knows UTC and no other zone.
public struct UTCOnly: ZoneSource {
    /// The one there is.
    public init() {}
    /// UTC, under its name.
    public func zone(named name: [UInt8]) -> TimeZoneTable? { name == Array("UTC".utf8) ? .utc : nil }
}
