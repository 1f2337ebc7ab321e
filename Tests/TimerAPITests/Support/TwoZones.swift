import TimerCore

/// Knows UTC and one more zone.
struct TwoZones: ZoneSource {
    func zone(named name: [UInt8]) -> TimeZoneTable? {
        name == Array("UTC".utf8) || name == Array("Europe/Berlin".utf8) ? .utc : nil
    }
}
