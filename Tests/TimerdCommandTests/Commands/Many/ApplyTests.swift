import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct ApplyTests {
    private let server: WholeServer
    private let directory: TemporaryDirectory

    init() throws {
        server = try WholeServer()
        directory = try TemporaryDirectory()
    }

    private func apply(_ text: String, _ flags: String...) throws -> CommandRun {
        try directory.write("timers", Data(text.utf8))
        return try server.run(["apply", directory.file("timers")] + flags)
    }

    private func timer(_ id: String) throws -> JSONObject {
        try #require(JSONObject(Array(try server.run("get", id, "--json").printed().utf8)))
    }

    /// The ids of the timers with the label `app=x`.
    private func labelled() throws -> [String] {
        let page = try server.run("list", "--label", "app=x", "--json").printed()
        return try #require(JSONObject(Array(page.utf8))).objects("timers").compactMap { $0["id"] }.sorted()
    }

    @Test func `what differs is shown and changed, and what does not is left alone`() throws {
        let old =
            #"{"id":"t","every":"1h","labels":{"app":"x","tier":"a"},"payload":[1],"#
            + #""webhook":{"url":"http://127.0.0.1:9/a"}}"#
        #expect(try apply(old).printed().hasPrefix("+ t\n"))
        _ = try server.run("suspend", "t").printed()
        let version = try timer("t")["version"]
        let same = old.replacing(#""1h""#, with: #""60m""#)
        #expect(try apply(same).printed() == "0 created, 0 changed, 1 unchanged\n")
        let new =
            #"{"id":"t","every":"2h","labels":{"app":"x","team":"blue"},"webhook":{"url":"http://127.0.0.1:9/b"}}"#
        let dry = try apply(new, "--dry-run")
        #expect(dry.code == 2 && dry.errors == "")
        #expect(dry.output.hasSuffix("\n0 to create, 1 to change, 0 unchanged\n"))
        let fields = [
            #"    - every: "1h""#, #"    + every: "2h""#, "    - payload: [1]", #"    - labels.tier: "a""#,
            #"    + labels.team: "blue""#, #"    - webhook.url: "http://127.0.0.1:9/a""#,
            #"    + webhook.url: "http://127.0.0.1:9/b""#,
        ]
        let lines = dry.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "~ t")
        #expect(lines.dropFirst().dropLast().sorted() == fields.sorted())
        #expect(try timer("t")["version"] == version)
        let done = try apply(new).printed().split(separator: "\n").map(String.init)
        #expect(done.dropLast() == lines.dropLast())
        #expect(done.last == "0 created, 1 changed, 0 unchanged")
        let changed = try timer("t")
        #expect([changed["state"], changed["every"], changed["payload"]] == ["suspended", "2h", nil])
        #expect(try apply(new, "--dry-run").printed() == "0 to create, 0 to change, 1 unchanged\n")
    }

    @Test func `differences as JSON are a line each`() throws {
        _ = try server.run("create", "a", "--every", "1h").printed()
        let run = try apply("{\"id\":\"a\",\"every\":\"2h\"}\n{\"id\":\"b\",\"after\":\"1h\"}\n", "--dry-run", "--json")
        #expect(run.code == 2)
        #expect(
            run.output == """
                {"action":"change","id":"a","fields":[{"field":"every","old":"1h","new":"2h"}]}
                {"action":"create","id":"b","fields":[{"field":"after","old":null,"new":"1h"}]}
                {"created":1,"changed":1,"deleted":0,"unchanged":0}

                """)
    }

    @Test(arguments: [true, false])
    func `a refused timer is named, the others stand, and nothing is pruned`(isDryRun: Bool) throws {
        _ = try server.run("create", "c", "--every", "1h", "--label", "app=x").printed()
        let text =
            #"{"id":"a","every":"1h","labels":{"app":"x"}}"# + "\n" + #"{"id":"b","every":"soon","labels":{"app":"x"}}"#
        let run = isDryRun ? try apply(text, "--prune", "app=x", "--dry-run") : try apply(text, "--prune", "app=x")
        let lines = run.errors.split(separator: "\n")
        #expect(run.code == 1 && lines.count == 2)
        #expect(lines.first?.hasPrefix("timerd: line 2: 400 ") == true && lines.first?.contains("every") == true)
        #expect(lines.last == "timerd: 1 of 2 timers refused; nothing is pruned")
        #expect(!run.output.contains("- c"))
        #expect(try labelled() == (isDryRun ? ["c"] : ["a", "c"]))
    }

    @Test func `what has the label and is not in the file is pruned`() throws {
        for words in [["keep", "app=x"], ["gone", "app=x"], ["other", "app=y"]] {
            _ = try server.run("create", words[0], "--every", "1h", "--label", words[1]).printed()
        }
        _ = try server.run("cancel", "gone").printed()
        let text = #"{"id":"keep","every":"1h","labels":{"app":"x"}}"#
        let dry = try apply(text, "--prune", "app=x", "--dry-run")
        #expect(dry.code == 2)
        #expect(dry.output == "- gone\n0 to create, 0 to change, 1 to delete, 1 unchanged\n")
        #expect(try labelled() == ["gone", "keep"])
        let done = "- gone\n0 created, 0 changed, 1 deleted, 1 unchanged\n"
        #expect(try apply(text, "--prune", "app=x").printed() == done)
        #expect(try labelled() == ["keep"])
        #expect(try timer("other")["state"] == "running")
        #expect(try apply(text, "--prune", "app=x").printed() == "0 created, 0 changed, 1 unchanged\n")
    }

    @Test func `lines, an array and tables make the same timers`() throws {
        let lines = "{\"id\":\"a\",\"every\":\"1h\"}\n{\"id\":\"b\",\"at\":\"2030-01-01T00:00:00Z\"}\n"
        #expect(try apply(lines).printed().hasSuffix("2 created, 0 changed, 0 unchanged\n"))
        for text in [
            "[\(lines.replacing("}\n{", with: "},{"))]", "[a]\nevery = \"1h\"\n[b]\nat = 2030-01-01T00:00:00Z\n",
        ] { #expect(try apply(text).printed() == "0 created, 0 changed, 2 unchanged\n") }
    }

    @Test func `findings come in the order of the file, whichever connection has them`() throws {
        let count = 1100
        let text = (0..<count).map { "{\"id\":\"t\($0)\",\"every\":\"1h\"}\n" }.joined()
        let lines = try apply(text, "--dry-run", "--json").output.split(separator: "\n").dropLast()
        let ids = lines.compactMap { JSONObject(Array($0.utf8))?["id"] }
        #expect(ids == (0..<count).map { "t\($0)" })
    }

    @Test func `a long file goes in parts`() throws {
        let count = BatchLines.mostLines + 50
        try directory.write("timers", Data((0..<count).map { "{\"id\":\"t\($0)\"}\n" }.joined().utf8))
        var parts: [BatchLines.Part] = []
        try Apply.cut(try DeclarationFile(reading: directory.file("timers")).timers) { parts.append($0) }
        #expect(parts.map(\.numbers) == [Array(1...BatchLines.mostLines), Array(BatchLines.mostLines + 1...count)])
        #expect(
            parts.last?.bytes.starts(with: Array("{\"apply\":{\"id\":\"t\(BatchLines.mostLines)\"}}\n".utf8)) == true)
    }

    @Test func `a part has a bounded number of bytes`() throws {
        let payload = String(repeating: "x", count: 1_000_000)
        let text = (0..<17).map { "{\"id\":\"t\($0)\",\"payload\":\"\(payload)\"}\n" }.joined()
        try directory.write("timers", Data(text.utf8))
        var parts: [BatchLines.Part] = []
        try Apply.cut(try DeclarationFile(reading: directory.file("timers")).timers) { parts.append($0) }
        #expect(parts.map(\.numbers) == [Array(1...16), [17]])
        for part in parts { #expect(part.bytes.count <= BatchLines.mostBytes) }
    }
}
