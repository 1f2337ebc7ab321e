/// A source that knows UTC and no other zone.
public struct UTCOnly: ZoneSource {
    /// Makes the source.
    public init() {}
    /// Returns UTC under its name, nil for any other.
    public func zone(named name: [UInt8]) -> TimeZoneTable? { name == Array("UTC".utf8) ? .utc : nil }
}
