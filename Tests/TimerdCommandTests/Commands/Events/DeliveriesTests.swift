import TestSupport
import Testing

@testable import TimerdCommand

/// The commands about deliveries, at a server that sends none of them.
struct DeliveriesTests {
    private let server: WholeServer

    /// Makes two timers, each with a pending delivery.
    init() throws {
        server = try WholeServer()
        for id in ["a", "b"] {
            _ = try run("create \(id) --every 1h --webhook http://127.0.0.1:9/ --label of=\(id)").printed()
            _ = try run("fire \(id)").printed()
        }
    }

    private func run(_ line: String) throws -> CommandRun {
        try server.run(line.split(separator: " ").map(String.init))
    }

    private func rows(_ line: String) throws -> [[String]] {
        try run(line).printed().split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    @Test(arguments: [
        ("deliveries", ["a", "b"]), ("deliveries list", ["a", "b"]), ("deliveries --timer b", ["b"]),
        ("deliveries --label of=a", ["a"]), ("deliveries --state dead", []),
        ("deliveries --state pending --all", ["a", "b"]),
    ])
    func `a list has the deliveries that are asked for`(line: String, timers: [String]) throws {
        let rows = try rows(line)
        #expect(rows.dropFirst().map { $0[2] } == timers)
        #expect(rows.first?.prefix(4) == ["ID", "STATE", "TIMER", "EVENT"])
        for row in rows.dropFirst() { #expect(row[1] == "pending" && row[3] == "fired") }
    }

    @Test func `a page says how to go on`() throws {
        let page = try run("deliveries --limit 1")
        #expect(page.code == 0)
        #expect(page.errors.hasPrefix("more: --cursor "))
        let cursor = page.errors.dropFirst("more: --cursor ".count).dropLast()
        #expect(try rows("deliveries --limit 1 --cursor \(cursor)").last?[2] == "b")
    }

    @Test func `what is dropped is gone`() throws {
        let ids = try rows("deliveries").dropFirst().map { $0[0] }
        #expect(try run("deliveries drop \(ids[0]) \(ids[1])").printed() == "\(ids[0]): dropped\n\(ids[1]): dropped\n")
        #expect(try rows("deliveries").count == 1)
        for verb in ["drop", "redrive"] { #expect(try run("deliveries \(verb) \(ids[0])").refusal(1).contains("404")) }
    }

    @Test func `only dead letters are redriven`() throws {
        let id = try rows("deliveries --timer a")[1][0]
        #expect(try run("redrive \(id)").refusal(1).contains("409"))
        #expect(try run("redrive --timer a --dry-run").printed() == "0 would be redriven, 0 skipped\n")
        #expect(try run("redrive --label of=a --json").printed().contains(#""changed":0"#))
    }
}
