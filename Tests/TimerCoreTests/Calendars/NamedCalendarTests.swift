import TestSupport
import Testing

@testable import TimerCore

/// Calendars by their names.
struct NamedCalendarTests {
    private static func calendar(_ name: String, _ content: CalendarContent) throws -> NamedCalendar {
        NamedCalendar(
            name: try #require(CalendarName(name.utf8)), content: content, version: 1, updatedAt: 2)
    }

    @Test(arguments: [
        ("a", true), ("Az.09_~-", true), (String(repeating: "x", count: 63), true), ("...", true), ("open", true),
        ("", false), (String(repeating: "x", count: 64), false), (".", false), ("..", false), ("a/b", false),
        ("a b", false), ("\u{e4}", false),
    ])
    func `a name is what a path can hold`(_ text: String, _ isName: Bool) {
        #expect((CalendarName(text.utf8) != nil) == isName)
    }

    @Test func `a content is read as it was made, and in no part`() throws {
        let content = try CalendarContent.mondays("09:00-17:00")
        let again = try #require(CalendarContent(decoding: content.bytes))
        #expect(again == content)
        #expect(again.parts.definition.zone == Array("UTC".utf8))
        #expect(again.parts.week == Array(#"{"mon":["09:00-17:00"]}"#.utf8) && again.parts.dates == Array("{}".utf8))
        for count in content.bytes.indices {
            #expect(CalendarContent(decoding: Array(content.bytes[..<count])) == nil, "\(count)")
        }
        #expect(CalendarContent(decoding: content.bytes + [0]) == nil)
    }

    @Test func `two spellings of the same hours are two contents`() throws {
        let one = try CalendarContent.mondays("09:00-17:00")
        let other = try CalendarContent.mondays("09:00:00-17:00:00")
        #expect(one.parts.definition == other.parts.definition)
        #expect(one != other)
    }

    @Test func `a table counts its calendars and their bytes, and orders them by name`() throws {
        let short = try CalendarContent.mondays("09:00-17:00")
        let long = try CalendarContent.mondays("09:00:00-17:00:00")
        var table = CalendarTable()
        for name in ["b", "B", "a"] { table.set(try Self.calendar(name, short)) }
        #expect(table.count == 3 && table.byteCount == 3 * short.bytes.count)
        #expect(table.all.map { String(decoding: $0.name.bytes, as: UTF8.self) } == ["B", "a", "b"])
        let changed = try Self.calendar("a", long)
        table.set(changed)
        #expect(table.count == 3 && table.byteCount == 2 * short.bytes.count + long.bytes.count)
        #expect(table[changed.name] == changed)
        for _ in 0..<2 { table.remove(changed.name) }
        #expect(table.count == 2 && table.byteCount == 2 * short.bytes.count && table[changed.name] == nil)
    }
}
