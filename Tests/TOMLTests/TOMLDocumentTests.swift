import Testing

@testable import TOML

struct TOMLDocumentTests {
    private static func entry(_ key: String, _ value: TOMLValue) -> TOMLEntry {
        TOMLEntry(key: key, line: 1, value: value)
    }

    private static func element(_ value: TOMLValue) -> TOMLValue.Element { .init(value: value, line: 1) }

    private func parse(_ text: String) throws -> [TOMLEntry] { try TOMLDocument.parse(Array(text.utf8)) }

    @Test func `entries come by line, with the lines of their elements`() throws {
        let entries = try parse(
            """
            # a comment
            max = 5

            name = "tea \\u00e9"
            list = [
                "a",  # another

                'b',
            ]
            """)
        #expect(
            entries == [
                TOMLEntry(key: "max", line: 2, value: .integer(5)),
                TOMLEntry(key: "name", line: 4, value: .string("tea é")),
                TOMLEntry(
                    key: "list", line: 5,
                    value: .array([
                        .init(value: .string("a"), line: 6), .init(value: .string("b"), line: 8),
                    ])),
            ])
    }

    @Test(arguments: [
        ("1.5", TOMLValue.float(1.5)), ("true", .boolean(true)), ("false", .boolean(false)), ("-7", .integer(-7)),
        ("2026-01-01", .time("2026-01-01")), ("12:00:00.250", .time("12:00:00.25")),
        ("2030-01-02 03:04:05Z", .time("2030-01-02T03:04:05Z")),
        ("2030-01-02T03:04:05.5+01:30", .time("2030-01-02T03:04:05.5+01:30")),
        ("2030-01-02T03:04:05-00:45", .time("2030-01-02T03:04:05-00:45")),
        ("2030-01-02T03:04:05", .time("2030-01-02T03:04:05")),
        ("{ b = 1, a = 2 }", .table([entry("b", .integer(1)), entry("a", .integer(2))])),
        ("[]", .array([])), ("{}", .table([])), ("\"\"", .string("")), ("0x10", .integer(16)),
        ("[[1], 2]", .array([element(.array([element(.integer(1))])), element(.integer(2))])),
    ])
    func `each kind of value is told`(text: String, value: TOMLValue) throws {
        #expect(try parse("key = \(text)") == [TOMLEntry(key: "key", line: 1, value: value)])
    }

    @Test func `tables are entries, however they are written`() throws {
        #expect(try parse("a.b = 1\n[c]\nd = 2\n").map(\.key) == ["a", "c"])
        let inner = TOMLEntry(key: "d", line: 3, value: .integer(2))
        #expect(try parse("\n[c]\nd = 2\n") == [TOMLEntry(key: "c", line: 2, value: .table([inner]))])
    }

    @Test func `what a table holds comes by line, a table in it included`() throws {
        let entries = try parse("[b]\nz = 1\na = 2\n[b.labels]\nteam = 'blue'\n[a]\n")
        let labels = TOMLEntry(key: "team", line: 5, value: .string("blue"))
        #expect(
            entries == [
                TOMLEntry(
                    key: "b", line: 1,
                    value: .table([
                        .init(key: "z", line: 2, value: .integer(1)), .init(key: "a", line: 3, value: .integer(2)),
                        .init(key: "labels", line: 4, value: .table([labels])),
                    ])),
                TOMLEntry(key: "a", line: 6, value: .table([])),
            ])
    }

    @Test(arguments: [
        ("a = 1\na = 2\n", 2), ("a = 1\n\nb\n", 3), ("a = \"x", 1), ("a = 99999999999999999999", 1), ("\n\n= 1", 3),
        ("a = [1,\n2\n", 2), ("a = 1 b = 2", 1),
    ])
    func `what is no TOML is refused with its line`(text: String, line: Int) {
        let error = #expect(throws: TOMLError.self) { try parse(text) }
        #expect(error?.line == line)
        #expect(error?.message.isEmpty == false)
    }

    @Test func `bytes that are no text are refused`() {
        #expect(throws: TOMLError.self) { try TOMLDocument.parse(Array("a = \"".utf8) + [0xFF, 0x22]) }
        #expect(throws: TOMLError.self) { try TOMLDocument.parse(Array("a = \"".utf8) + [0x00, 0x22]) }
    }

    @Test(arguments: ["[", "{a=", "[{a="])
    func `nesting is bounded`(opening: String) {
        #expect(throws: TOMLError.self) { try parse("a = " + String(repeating: opening, count: 1000)) }
    }

    @Test(arguments: [("", " = 1"), ("[", "]")])
    func `a line is bounded, and so is how deep a key goes`(opening: String, closing: String) throws {
        #expect(try parse(opening + String(repeating: "a.", count: 250) + "b" + closing).count == 1)
        let error = #expect(throws: TOMLError.self) {
            try parse("\n" + opening + String(repeating: "a.", count: 100_000) + "b" + closing)
        }
        #expect(error?.line == 2)
    }

    @Test func `an empty document has no entries`() throws {
        #expect(try parse("") == [])
        #expect(try parse("# nothing\n") == [])
    }
}
