/// Where the scheduler finds time zones.
public protocol ZoneSource: Sendable {
    /// The zone of that IANA name; nil when there is none.
    func zone(named name: [UInt8]) -> TimeZoneTable?
}
