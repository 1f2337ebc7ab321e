import TestSupport
import Testing

@testable import TimerdCommand

/// The commands that show events.
struct EventsTests {
    private let server: WholeServer

    /// Makes a timer with a history, and another one.
    init() throws {
        server = try WholeServer()
        for line in ["create t --after 1h --label a=b", "suspend t", "resume t", "fire t", "create u --after 1h"] {
            _ = try run(line).printed()
        }
    }

    private func run(_ line: String) throws -> CommandRun {
        try server.run(line.split(separator: " ").map(String.init))
    }

    /// The types of the events that a command shows.
    private func types(_ line: String) throws -> [String] {
        try run(line).printed().split(separator: "\n").compactMap { line in
            line.split(separator: " ").dropFirst().first.map(String.init)
        }
    }

    private static let all = ["created", "activated", "suspended", "resumed", "fired", "completed"]

    @Test func `events are those of a timer, of a label or of all`() throws {
        #expect(try types("events --timer t") == Self.all)
        #expect(try types("events") == Self.all + ["created", "activated"])
        let lines = try run("events --label a=b --json").printed().split(separator: "\n")
        #expect(lines.compactMap { JSONObject(Array($0.utf8))?["type"] } == Self.all)
    }

    @Test func `events begin and end where they are told to`() throws {
        let lines = try run("events --timer t --json").printed().split(separator: "\n")
        let third = try #require(JSONObject(Array(lines[2].utf8))?["id"])
        #expect(try types("events --timer t --since \(third) --type fired,resumed") == ["resumed", "fired"])
        #expect(try types("events --timer t --limit 2") == ["created", "activated"])
        #expect(try types("watch t --since 0 --limit 3") == ["created", "activated", "suspended"])
        #expect(try types("watch --timer t --since \(third) --limit 1") == ["resumed"])
    }

    @Test func `what the server refuses is told`() throws {
        #expect(try run("events --timer t --since x").refusal(1).contains("400"))
        #expect(try run("events --timer none").refusal(1).contains("404"))
        #expect(try run("watch none").refusal(1).contains("404"))
    }

    @Test func `a watch of a deleted timer shows what is left and ends`() throws {
        _ = try run("delete t").printed()
        #expect(try types("watch t --since 0") == Self.all + ["deleted"])
        #expect(try run("watch t --type rescheduled").printed() == "")
    }
}
