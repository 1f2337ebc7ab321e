import TimerCore
import TimerService
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

/// The calendars of an export: those that there are when it begins, and those that its timers came to go by since.
struct ExportedCalendars {
    private var names: Set<CalendarName> = []
    private var left: ArraySlice<NamedCalendar> = []

    /// Whether no calendar is left to be written.
    var areWritten: Bool { left.isEmpty }

    /// Adds calendars.
    mutating func add(_ calendars: [NamedCalendar]) {
        left += calendars.filter { names.insert($0.name).inserted }
    }

    /// Adds the calendar of a timer.
    mutating func add(of view: TimerView, _ turn: borrowing Turn) {
        guard let name = Definition.calendarName(view.definition.span), let calendar = turn.calendars[name] else {
            return
        }
        add([calendar])
    }

    /// Writes the calendars that are left, up to `limit` bytes of `json`, about. Returns how many lines that are.
    mutating func write(_ json: inout JSONWriter, upTo limit: Int = .max) -> Int {
        var lines = 0
        while json.count < limit, let calendar = left.popFirst() {
            CalendarLine.write(calendar, &json)
            lines += 1
        }
        return lines
    }
}
