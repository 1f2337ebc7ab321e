public import TimerCore
public import WireJSON

/// Calendars as clients see them.
public enum CalendarJSON {
    /// Writes a calendar.
    static func write(_ calendar: NamedCalendar, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("name", text: calendar.name.bytes)
        writeContent(calendar.content, &json)
        json.member("version", calendar.version)
        json.member("updatedAt", instant: calendar.updatedAt)
        json.endObject()
    }

    /// Writes the members that the client set, as it wrote them.
    public static func writeContent(_ content: CalendarContent, _ json: inout JSONWriter) {
        let texts = content.texts
        json.member("timeZone", text: content.zone)
        json.key("week")
        json.raw(texts.week)
        json.key("dates")
        json.raw(texts.dates)
    }
}

/// A page of the list of calendars, by name.
struct CalendarPage {
    private let limit: Int
    /// The name after which the page begins; nil for the first page.
    private let after: CalendarName?

    /// The most bytes of a page's answer, about: a page is cut after the calendar that goes beyond `pageBytes`.
    var mostBytes: Int { min(limit * APILimits.bodyBytes, APILimits.pageBytes + APILimits.bodyBytes) }

    /// Reads which page a request asks for.
    init(_ target: Target) throws(Problem) {
        var query = QueryReader(target)
        limit = try query.count("limit", upTo: APILimits.listMaximum, default: APILimits.listDefault)
        after = try query.one("cursor").map { text throws(Problem) in
            guard let name = CalendarName(text) else {
                throw QueryReader.invalid("cursor", "this is no `next` of a page of calendars")
            }
            return name
        }
        try query.finish()
    }

    /// Writes the page of all calendars in `table`. Returns the cursor of the next one; nil after the last.
    func write(_ table: CalendarTable, _ json: inout JSONWriter) -> String? {
        let rest = table.all.drop { calendar in after.map { calendar.name <= $0 } ?? false }
        var last: CalendarName?
        var count = 0
        json.beginObject()
        json.beginArray("calendars")
        for calendar in rest.prefix(limit) where json.count < APILimits.pageBytes {
            CalendarJSON.write(calendar, &json)
            last = calendar.name
            count += 1
        }
        json.endArray()
        let next = count < rest.count ? last.map { String(decoding: $0.bytes, as: UTF8.self) } : nil
        json.member("next", text: next)
        json.endObject()
        return next
    }
}

/// The time whose open hours a request asks for, and the hours in it.
struct OpenTime {
    /// Wall milliseconds from which the request asks; nil for now.
    private let from: Int64?
    /// Wall milliseconds until which the request asks; nil for `usual` after its beginning.
    private let until: Int64?
    private let zones: any ZoneSource

    /// The milliseconds of open hours that are shown where the request does not say until when.
    private static let usual: Int64 = 7 * 86_400_000
    /// The most intervals of an answer.
    static let most = 1000

    /// Reads which time a request asks for.
    init(_ target: Target, zones: any ZoneSource) throws(Problem) {
        var query = QueryReader(target)
        from = try query.instant("from")
        until = try query.instant("until")
        try query.finish()
        self.zones = zones
    }

    /// Returns the time that is asked for at a wall instant.
    func range(at now: Int64) throws(Problem) -> Range<Int64> {
        let start = from ?? now
        let end = until ?? start + Self.usual
        guard start < end else {
            throw QueryReader.invalid("until", "`until` is after `from`, which is now unless it is given")
        }
        return start..<end
    }

    /// Writes the open hours of a calendar in a time.
    func write(_ calendar: NamedCalendar, in time: Range<Int64>, _ json: inout JSONWriter) throws(Problem) {
        let definition = calendar.content.parts.definition
        guard let zone = zones.zone(named: definition.zone) else {
            throw Problem(.invalidRequest, UnknownZone(definition.zone, in: zones).message)
        }
        let (open, next) = OpenHours(definition, in: zone)
            .open(from: time.lowerBound, until: time.upperBound, limit: Self.most)
        json.beginObject()
        json.beginArray("open")
        for interval in open {
            json.beginObject()
            json.member("from", instant: interval.lowerBound)
            json.member("until", instant: interval.upperBound)
            json.endObject()
        }
        json.endArray()
        json.member("next", instant: next)
        json.endObject()
    }
}
