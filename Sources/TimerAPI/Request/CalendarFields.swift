package import TimerCore
import WireJSON

/// Reads a calendar: the body of a PUT, or the part of an export's line.
package struct CalendarFields {
    /// The rule of calendars' names.
    static let nameRule =
        "a calendar's name is 1 to \(CalendarName.longest) of A-Z a-z 0-9 . _ ~ - and neither `.` nor `..`"

    private let document: JSONDocument
    private let node: JSONNode

    /// Begins to read the object at `node`, or at the root.
    init(_ document: JSONDocument, _ node: JSONNode? = nil) {
        self.document = document
        self.node = node ?? document.root
    }

    /// Reads the body of a PUT.
    package static func content(
        of name: CalendarName, in bytes: [UInt8], zones: any ZoneSource
    ) throws(Problem) -> CalendarContent {
        var document = JSONDocument()
        do throws(JSONError) { try document.parse(bytes) } catch {
            throw Problem(.invalidRequest, error.description)
        }
        return try CalendarFields(document).content(of: name, zones: zones)
    }

    /// Reads the part that the client sets. Members that only the server sets are ignored, so that a calendar that was
    /// read can be sent back.
    ///
    /// - Parameter name: the calendar's name, which the member `name` must repeat if it is there.
    func content(of name: CalendarName, zones: any ZoneSource) throws(Problem) -> CalendarContent {
        var zone: [UInt8]?
        var week: JSONNode?
        var dates: JSONNode?
        guard document.kind(node) == .object else {
            throw Problem(.invalidRequest, "a calendar is a JSON object", pointer: document.pointer(to: node))
        }
        var member = document.firstChild(node)
        while let field = member {
            let value = FieldReader(document, field)
            switch String(decoding: document.keyBytes(field), as: UTF8.self) {
            case "timeZone": zone = try value.text()
            case "week": week = value.isNull ? nil : field
            case "dates": dates = value.isNull ? nil : field
            case "name":
                guard try value.text() ?? name.bytes == name.bytes else {
                    throw value.invalid("the body's name is not the path's")
                }
            case "version", "updatedAt": break
            default: throw Problem(noField: field, of: "a calendar", document, among: ["timeZone", "week", "dates"])
            }
            member = document.next(field)
        }
        guard let zone else { throw missing("timeZone", "a calendar needs a `timeZone`, such as Europe/Berlin") }
        guard let week else {
            throw missing("week", "a calendar needs a `week`, such as {\"mon-fri\": [\"09:00-17:00\"]}")
        }
        let definition = try definition(zone, week: entries(week), dates: dates.map(entries) ?? [])
        guard zones.offers(zone) else { throw missing("timeZone", UnknownZone(zone, in: zones).message) }
        return CalendarContent(
            definition, week: document.compact(week), dates: dates.map(document.compact) ?? Array("{}".utf8))
    }

    private func definition(
        _ zone: [UInt8], week: [CalendarDefinition.Entry], dates: [CalendarDefinition.Entry]
    ) throws(Problem) -> CalendarDefinition {
        do throws(CalendarError) { return try CalendarDefinition(zone: zone, week: week, dates: dates) } catch {
            throw Problem(.invalidRequest, error.message, pointer: document.pointer(to: node) + error.pointer)
        }
    }

    /// Reads the lists of intervals of an object, by its keys.
    private func entries(_ node: JSONNode) throws(Problem) -> [CalendarDefinition.Entry] {
        guard document.kind(node) == .object else {
            throw FieldReader(document, node).invalid("this must be an object of lists of intervals")
        }
        var entries: [CalendarDefinition.Entry] = []
        var member = document.firstChild(node)
        while let field = member {
            entries.append((key: document.keyBytes(field), intervals: try intervals(field)))
            member = document.next(field)
        }
        return entries
    }

    private func intervals(_ field: JSONNode) throws(Problem) -> [[UInt8]] {
        guard document.kind(field) == .array else {
            throw FieldReader(document, field).invalid("this must be a list of intervals, such as [\"09:00-17:00\"]")
        }
        var intervals: [[UInt8]] = []
        var element = document.firstChild(field)
        while let text = element {
            guard document.kind(text) == .string else {
                throw FieldReader(document, text).invalid("an interval is a string, such as \"09:00-17:00\"")
            }
            intervals.append(document.string(text))
            element = document.next(text)
        }
        return intervals
    }

    private func missing(_ name: StaticString, _ detail: String) -> Problem {
        Problem(.invalidRequest, detail, pointer: "\(document.pointer(to: node))/\(name)")
    }
}
