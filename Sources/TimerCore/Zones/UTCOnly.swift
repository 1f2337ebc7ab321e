/// Knows UTC and no other zone.
public struct UTCOnly: ZoneSource {
    /// The one there is.
    public init() {}
    /// UTC, under its name.
    public func zone(named name: [UInt8]) -> TimeZoneTable? { name == Array("UTC".utf8) ? .utc : nil }
}
