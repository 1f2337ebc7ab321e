import TimerCore
import WireJSON

/// The line of a calendar in an export: `{"calendar": {…}}`.
enum CalendarLine {
    /// Writes a calendar.
    static func write(_ calendar: NamedCalendar, _ json: inout JSONWriter) {
        json.beginObject()
        json.key("calendar")
        CalendarJSON.write(calendar, &json)
        json.endObject()
        json.newline()
    }

    /// Reads a calendar.
    static func read(_ line: MemberReader, zones: any ZoneSource) throws(Problem) -> NamedCalendar {
        try line.allow(["calendar"])
        let reader = try line.object("calendar")
        guard let name = try reader.text("name").flatMap({ CalendarName($0.utf8) }) else {
            throw reader.invalid("name", CalendarFields.nameRule)
        }
        return NamedCalendar(
            name: name, content: try CalendarFields(reader.document, reader.node).content(of: name, zones: zones),
            version: try reader.required("version", in: 1...ImportedTimer.mostVersions),
            updatedAt: try reader.requiredInstant("updatedAt"))
    }
}
