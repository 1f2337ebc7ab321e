import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct DeclarationFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func read(_ text: String, name: String = "timers") throws -> [DeclaredTimer] {
        try directory.write(name, Data(text.utf8))
        return try DeclarationFile(reading: directory.file(name)).timers
    }

    private func lines(_ timers: [DeclaredTimer]) -> [String] {
        timers.map { "\($0.line) \($0.id) \(String(decoding: $0.body, as: UTF8.self))" }
    }

    private static let first = #"{"id":"a","every":"1h","labels":{"app":"x"},"payload":{"n":1.5,"list":[1,true,"x"]}}"#
    private static let second = #"{"id":"b","at":"2030-01-01T00:00:00Z"}"#

    @Test(arguments: [
        ("\(first)\n\(second)\n", 1, 2), ("\n \n\(first)\n\n\(second)", 3, 5), ("[\(first), \(second)]", 1, 1),
        ("[\n  \(first),\n\n  \(second)\n]\n", 2, 4), (" [ \(first) , \(second) ] ", 1, 1),
    ])
    func `lines and an array declare the same timers`(text: String, line: Int, next: Int) throws {
        #expect(lines(try read(text)) == ["\(line) a \(Self.first)", "\(next) b \(Self.second)"])
    }

    private static let toml = """
        # the timers of a shop
        [a]
        every = "1h"
        payload = { n = 1.5, list = [1, true, "x"] }
        [a.labels]
        app = "x"
        [second]
        id = "b"
        at = 2030-01-01T00:00:00Z
        """

    @Test(arguments: ["timers", "timers.toml"])
    func `a table of TOML declares a timer, whose name is the id unless one is in it`(name: String) throws {
        let timers = try read(Self.toml, name: name)
        #expect(timers.map { "\($0.line) \($0.id)" } == ["2 a", "7 b"])
        let first = try #require(JSONObject(timers[0].body))
        #expect(first["every"] == "1h" && first["labels"] == #"{"app":"x"}"#)
        #expect(first["payload"] == #"{"n":1.5,"list":[1,true,"x"]}"#)
        #expect(String(decoding: timers[1].body, as: UTF8.self) == Self.second)
    }

    @Test(arguments: ["\(first)\n\(second)\n", "[\(first), \(second)]", toml])
    func `a byte order mark before any of the three forms is skipped`(text: String) throws {
        #expect(try read("\u{feff}" + text).map(\.id) == ["a", "b"])
    }

    @Test func `a quoted name of a table is an id with dots`() throws {
        #expect(try read("[\"shop.nightly\"]\nevery = \"1h\"\n").map(\.id) == ["shop.nightly"])
    }

    @Test(arguments: ["", "\n \n", "[]", " [ ] ", "# nothing\n"])
    func `an empty file declares nothing`(text: String) throws {
        #expect(try read(text).isEmpty)
    }

    private static let mistakes: [(String, [String])] = [
        ("{\"id\": \"a\", \"every\": \"1h\"}\nnonsense\n", ["line 2", "not JSON"]),
        ("{\"id\": \"a\"}\n[1]\n", ["line 2", "object"]), ("{\"every\": \"1h\"}\n", ["line 1", "`id`"]),
        ("{\"id\": null}\n", ["line 1", "`id`"]), ("{\"id\": 5}\n", ["line 1", "5"]),
        ("{\"id\": \"a b\"}\n", ["line 1", "\"a b\""]), ("{\"id\": \"batch\"}\n", ["batch"]),
        ("{\"id\": \"a\", \"a\": 1, \"a\": 2}\n", ["line 1", "not JSON"]),
        ("\n{\"id\": \"tea\"}\n{\"id\": \"b\"}\n\n{\"id\": \"tea\"}\n", ["tea", "twice", "lines 2 and 5"]),
        ("[\n{\"id\": \"tea\"},\n\n{\"id\": \"tea\"}]", ["lines 2 and 4"]),
        ("[a]\nid = \"tea\"\n[tea]\nevery = \"1h\"\n", ["tea", "lines 1 and 3"]), ("[tea]\nevery = 1h\n", ["line 2"]),
        ("every = \"1h\"\n", ["line 1", "table"]), ("[tea]\nevery = inf\n", ["line 1", "every", "inf"]),
        ("[{\"id\": \"a\"}", ["no end"]), ("[{\"id\": \"a\"},]", ["missing"]), ("[{\"id\": \"a\"}] x", ["follows"]),
    ]

    @Test func `a timer has a bounded size`() throws {
        let payload = String(repeating: "x", count: DeclaredTimer.limit)
        let failure = #expect(throws: Failure.self) { try read("{\"id\": \"a\", \"payload\": \"\(payload)\"}") }
        #expect(failure?.line.hasSuffix("line 1: over \(DeclaredTimer.limit) bytes") == true)
    }

    @Test(arguments: mistakes)
    func `a mistake is refused with its place before a server is asked`(text: String, words: [String]) throws {
        try directory.write("timers", Data(text.utf8))
        let told = CommandRun("apply", directory.file("timers"), "--server", "http://127.0.0.1:1").refusal(64)
        #expect(told.hasPrefix("timerd: \(directory.file("timers"))"))
        for word in words { #expect(told.contains(word)) }
    }

    @Test(arguments: [("/nowhere/none", "/nowhere/none"), ("/tmp", "directory"), ("/dev/zero", "over")])
    func `a file that can't be read is refused`(path: String, words: String) {
        let told = CommandRun("apply", path, "--server", "http://127.0.0.1:1").refusal(64)
        #expect(told.contains(path) && told.contains(words))
    }

    @Test(arguments: [
        ("", "app=shop", "no timer"), ("", "app=shop", "app=shop"), (first, "app=y", "line 1: a lacks the label app=y"),
        ("\(first)\n\(second)", "app=x", "line 2: b lacks the label app=x"), (first, "app", "expected key=value"),
        (first, "=x", "expected key=value"), (first, "", "expected key=value"),
    ])
    func `a label that would prune too much is refused`(text: String, label: String, words: String) throws {
        _ = try read(text)
        let run = CommandRun("apply", directory.file("timers"), "--prune", label, "--server", "http://127.0.0.1:1")
        #expect(run.refusal(64).contains(words))
    }
}
