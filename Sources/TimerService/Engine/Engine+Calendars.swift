import TimerCore
import TimerLog

/// The records of calendars.
extension Engine {
    /// The calendars as they are.
    var calendars: CalendarTable { scheduler.calendars }

    /// Records a calendar as it is from here on.
    ///
    /// - Parameter made: its opening hours, where they were made outside of the lock.
    func record(_ calendar: NamedCalendar, made: OpenHours? = nil) {
        _ = takePosition()
        RecordCodec.append(calendar, to: &batch.records.open)
        scheduler.set(calendar, made: made)
        let bytes = calendar.past.reduce(calendar.content.bytes.count) { $0 + $1.hours.count }
        spent += 1 + bytes / EngineConfiguration.bytesPerChange
        highestVersion = max(highestVersion, calendar.version)
        if showsEarly && !coversVersions { bindBatch() }
    }

    /// Records that a calendar is deleted. A later one of its name begins above its version.
    func recordDeletion(of calendar: NamedCalendar, _ now: Now) {
        _ = takePosition()
        RecordCodec.appendDeletion(
            of: calendar.name, version: calendar.version, by: actor, at: now.wall, to: &batch.records.open)
        scheduler.removeCalendar(calendar.name)
        scheduler.foldVersionFloor(calendar.version)
        spent += 1
    }

    /// Returns the version of a calendar's next change, or of a new calendar: above all that its name has had.
    func version(after calendar: NamedCalendar?) -> Int64 {
        max(calendar?.version ?? max(scheduler.versionFloor, scheduler.arrivingFloor), scheduler.lostVersions) + 1
    }

    /// Writes a calendar again whose record is in a row to be deleted, unless a later record replaces that one.
    func carryCalendar(_ calendar: NamedCalendar) {
        guard let present = calendars[calendar.name], present.version == calendar.version else { return }
        record(present)
    }
}
