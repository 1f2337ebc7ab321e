import TimerCore
import TimerService

/// The time zones of the machine: the one place that chooses their source.
enum HostZones {
    /// Makes the source in which the server and `preview` look up zones.
    static func source() -> any ZoneSource { SystemZones() }

    /// Returns the seconds that local time in `zone` is ahead of UTC at a wall instant in milliseconds.
    static func offset(of zone: TimeZoneTable, at instant: Int64) -> Int64 {
        zone.offset(at: instant >= 0 ? instant / 1000 : (instant - 999) / 1000)
    }
}
