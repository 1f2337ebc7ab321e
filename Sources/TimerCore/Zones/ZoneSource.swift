/// The scheduler's source of time zones.
public protocol ZoneSource: Sendable {
    /// Returns the zone of that IANA name; nil when there is none.
    func zone(named name: [UInt8]) -> TimeZoneTable?
}
