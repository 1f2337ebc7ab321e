import TestSupport
import Testing
import TimerCore
import WireJSON

@testable import TimerAPI

/// Bodies of calendars, and calendars as clients see them.
struct CalendarBodyTests {
    private static func document(_ text: String) throws(Problem) -> JSONDocument {
        var document = JSONDocument()
        do throws(JSONError) { try document.parse(Array(text.utf8)) } catch {
            throw Problem(.invalidRequest, error.message, pointer: error.pointer)
        }
        return document
    }

    private static func name(_ text: String = "b") throws -> CalendarName { try #require(CalendarName(text.utf8)) }

    private static func content(_ text: String) throws -> CalendarContent {
        try CalendarFields(document(text)).content(of: name(), zones: UTCOnly())
    }

    /// The problem for which a body is refused; nil where it is taken.
    private static func refusal(_ text: String) throws -> Problem? {
        do { _ = try content(text) } catch let problem as Problem { return problem }
        return nil
    }

    private static func shown(_ calendar: NamedCalendar) -> String {
        var json = JSONWriter()
        CalendarJSON.write(calendar, &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static let week = #""week":{"mon":["09:00-17:00"]}"#

    @Test func `a calendar is shown as it was written, and what is shown can be sent back`() throws {
        let content = try Self.content(
            #"{ "dates": {"2026-12-25/2026-12-26": [ ], "2026-12-24": ["09:00-13:00"]}, "timeZone": "UTC","#
                + #""week": {"sat" : ["10:00-14:00", "08:00-09:00"], "m\u006fn-fri": ["09:00:00-12:30"]} }"#)
        let shown = Self.shown(
            NamedCalendar(name: try Self.name(), content: content, version: 7, updatedAt: 1_700_000_000_000))
        #expect(
            shown == #"{"name":"b","timeZone":"UTC","week":{"sat":["10:00-14:00","08:00-09:00"],"#
                + #""m\u006fn-fri":["09:00:00-12:30"]},"dates":{"2026-12-25/2026-12-26":[],"2026-12-24":["09:00-13:00"]},"#
                + #""version":7,"updatedAt":"2023-11-14T22:13:20.000Z"}"#)
        #expect(try Self.content(shown) == content)
    }

    @Test(arguments: ["", #","dates":null"#, #","dates":{}"#, #","name":"b","version":"x","updatedAt":null"#])
    func `dates may be left out, and what only the server sets is ignored`(_ more: String) throws {
        let content = try Self.content(#"{"timeZone":"UTC",\#(Self.week)\#(more)}"#)
        #expect(content == (try CalendarContent.mondays("09:00-17:00")))
    }

    static let refused: [(String, String)] = [
        ("[]", ""), ("{\(week)}", "/timeZone"), (#"{"timeZone":null,\#(week)}"#, "/timeZone"),
        (#"{"timeZone":7,\#(week)}"#, "/timeZone"), (#"{"timeZone":"utc",\#(week)}"#, "/timeZone"),
        (#"{"timeZone":"UTC"}"#, "/week"), (#"{"timeZone":"UTC","week":null}"#, "/week"),
        (#"{"timeZone":"UTC","week":[]}"#, "/week"), (#"{"timeZone":"UTC","week":{}}"#, "/week"),
        (#"{"timeZone":"UTC","week":{"mon":[]}}"#, "/week"),
        (#"{"timeZone":"UTC","week":{"mon":null}}"#, "/week/mon"),
        (#"{"timeZone":"UTC","week":{"mon":"09:00-17:00"}}"#, "/week/mon"),
        (#"{"timeZone":"UTC","week":{"mon-fri":[7]}}"#, "/week/mon-fri/0"),
        (#"{"timeZone":"UTC","week":{"mon-fri":["9-17"]}}"#, "/week/mon-fri/0"),
        (#"{"timeZone":"UTC","week":{"mon-fri":["09:00-17:00","16:00-18:00"]}}"#, "/week/mon-fri/1"),
        (#"{"timeZone":"UTC","week":{"monday":["09:00-17:00"]}}"#, "/week/monday"),
        (#"{"timeZone":"UTC","week":{"mon-fri":["09:00-17:00"],"wed":[]}}"#, "/week/wed"),
        (#"{"timeZone":"UTC","week":{"a/b":[]}}"#, "/week/a~1b"),
        (#"{"timeZone":"UTC",\#(week),"dates":[]}"#, "/dates"),
        (#"{"timeZone":"UTC",\#(week),"dates":{"2026-02-30":[]}}"#, "/dates/2026-02-30"),
        (#"{"timeZone":"UTC",\#(week),"dates":{"2026-12-25":["x"]}}"#, "/dates/2026-12-25/0"),
        (#"{"timeZone":"UTC",\#(week),"dates":{"2026-01-01/2031-06-24":[]}}"#, "/dates"),
        (#"{"timeZone":"UTC",\#(week),"name":"c"}"#, "/name"), (#"{"timeZone":"UTC",\#(week),"name":7}"#, "/name"),
    ]

    @Test(arguments: refused)
    func `a body that is no calendar is refused where it is wrong`(_ text: String, _ pointer: String) throws {
        let problem = try #require(try Self.refusal(text))
        #expect(problem.kind == .invalidRequest && problem.pointer == pointer, "\(problem.detail)")
    }

    @Test func `a field that there is not is refused, and a zone is named that may be meant`() throws {
        let field = try Self.refusal(#"{"timeZone":"UTC",\#(Self.week),"holidays":{}}"#)
        #expect(field?.kind == .unknownField && field?.pointer == "/holidays")
        let meant = try Self.refusal(#"{"timezone":"UTC",\#(Self.week)}"#)
        #expect(meant?.detail == "a calendar has no field `timezone`: did you mean `timeZone`?")
        #expect(try Self.refusal(#"{"timeZone":"utc",\#(Self.week)}"#)?.detail.contains("did you mean UTC") == true)
    }

    @Test func `a line of an export is read as it was written`() throws {
        let calendar = NamedCalendar(
            name: try Self.name(), content: try .mondays("09:00-17:00"), version: 7, updatedAt: 1_700_000_000_000)
        var json = JSONWriter()
        CalendarLine.write(calendar, &json)
        let line = try ImportLine(
            Self.document(String(decoding: json.bytes, as: UTF8.self)), export: "", dropsSecrets: false,
            zones: UTCOnly())
        guard case .calendar(let read) = line else {
            Issue.record("the line is no calendar's")
            return
        }
        #expect(read == calendar)
    }

    @Test(arguments: [
        (#"{"calendar":7}"#, "/calendar"), (#"{"calendar":{},"x":1}"#, "/x"),
        (#"{"calendar":{"name":"."}}"#, "/calendar/name"),
        (#"{"calendar":{"name":"b","timeZone":"UTC"}}"#, "/calendar/week"),
        (#"{"calendar":{"name":"b","timeZone":"UTC","week":{"mon":["x"]}}}"#, "/calendar/week/mon/0"),
        (#"{"calendar":{"name":"b","timeZone":"UTC",\#(week)}}"#, "/calendar/version"),
        (#"{"calendar":{"name":"b","timeZone":"UTC",\#(week),"version":0}}"#, "/calendar/version"),
        (#"{"calendar":{"name":"b","timeZone":"UTC",\#(week),"version":1}}"#, "/calendar/updatedAt"),
    ])
    func `a line that is no calendar is refused where it is wrong`(_ text: String, _ pointer: String) throws {
        do throws(Problem) {
            _ = try ImportLine(Self.document(text), export: "", dropsSecrets: false, zones: UTCOnly())
            Issue.record("the line is taken")
        } catch {
            #expect(error.pointer == pointer)
        }
    }

    @Test func `a walk shows each calendar once, whatever was deleted`() throws {
        let names = (0..<10).map { "c\($0)" }
        var table = CalendarTable()
        for name in names {
            table.set(
                NamedCalendar(
                    name: try Self.name(name), content: try .mondays("09:00-17:00"), version: 1, updatedAt: 0))
        }
        var shown: [String] = []
        var target = "/v1/calendars?limit=3"
        while shown.count < 20 {
            var json = JSONWriter()
            let next = try CalendarPage(Target(Array(target.utf8))).write(table, &json)
            var document = JSONDocument()
            try document.parse(json.bytes)
            let list = try #require(document.member(document.root, "calendars"))
            for node in document.children(of: list) {
                let name = try #require(document.member(node, "name"))
                shown.append(String(decoding: document.string(name), as: UTF8.self))
            }
            guard let next else { break }
            target = "/v1/calendars?limit=3&cursor=\(next)"
            table.remove(try Self.name(next))
        }
        #expect(shown == names)
    }

    @Test func `open hours are those of a time, and begin now unless it says otherwise`() throws {
        let calendar = NamedCalendar(
            name: try Self.name(), content: try .mondays("09:00-12:00", "13:00-14:00"), version: 1, updatedAt: 0)
        func shown(_ query: String, now: Int64) throws -> String {
            var json = JSONWriter()
            let time = try OpenTime(Target(Array("/v1/calendars/b/open\(query)".utf8)), zones: UTCOnly())
            try time.write(calendar, in: time.range(at: now), &json)
            return String(decoding: json.bytes, as: UTF8.self)
        }
        // Monday, 1970-01-05 at 10:00.
        let now: Int64 = 4 * 86_400_000 + 36_000_000
        #expect(
            try shown("", now: now)
                == #"{"open":[{"from":"1970-01-05T10:00:00.000Z","until":"1970-01-05T12:00:00.000Z"},"#
                + #"{"from":"1970-01-05T13:00:00.000Z","until":"1970-01-05T14:00:00.000Z"},"#
                + #"{"from":"1970-01-12T09:00:00.000Z","until":"1970-01-12T10:00:00.000Z"}],"next":null}"#)
        #expect(try shown("?until=1970-01-05T11:00:00Z", now: now).contains(#""until":"1970-01-05T11:00:00.000Z""#))
        let many = try shown("?from=1970-01-01T00:00:00Z&until=2020-01-01T00:00:00Z", now: now)
        #expect(many.hasSuffix(#""next":"1979-08-06T09:00:00.000Z"}"#), "\(many.suffix(200))")
        let problem = #expect(throws: Problem.self) {
            try shown("?from=1970-01-05T11:00:00Z&until=1970-01-05T11:00:00Z", now: 0)
        }
        #expect(problem?.parameter == "until")
    }

    @Test func `a refusal is a problem that says what to do`() {
        let expected: [(CalendarRefusal, ProblemKind)] = [
            (.notFound, .notFound), (.exists, .timerExists), (.versionMismatch(current: nil), .versionMismatch),
            (.isFull, .timerLimit), (.isChanging, .overloaded), (.inUse(timers: 3), .calendarInUse),
        ]
        for (refusal, kind) in expected {
            let problem = Problem(refusal)
            #expect(problem.kind == kind && problem.timer == nil)
        }
        #expect(Problem(CalendarRefusal.versionMismatch(current: 7)).current == 7)
        #expect(Problem(CalendarRefusal.inUse(timers: 3)).timers == 3)
    }
}
