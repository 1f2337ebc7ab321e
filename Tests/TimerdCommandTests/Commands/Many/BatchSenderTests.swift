import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct BatchSenderTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func file(_ text: String) throws -> String {
        try directory.write("batch", Data(text.utf8))
        return directory.file("batch")
    }

    @Test func `each refused line is named, and the others stand`() throws {
        let server = try WholeServer()
        let lines = [
            #"{"id":"a","after":"1h"}"#, "", "  ", "nonsense", #"{"id":"a","after":"1h"}"#,
            #"{"command":"cancel","id":"a"}"#,
            #"{"id":"b","after":"1h"}"#,
        ]
        let run = try server.run("batch", try file(lines.joined(separator: "\n")))
        let said = run.errors.split(separator: "\n")
        #expect(run.code == 1 && run.output == "" && said.count == 3)
        #expect(said.first?.hasPrefix("timerd: line 4: 400 ") == true)
        #expect(said.dropFirst().first?.hasPrefix("timerd: line 5: 409 timer-exists") == true)
        #expect(said.last == "timerd: 2 of 5 lines refused, 3 done")
        #expect(try server.run("get", "a").printed().contains("cancelled"))
        #expect(try server.run("get", "b").printed().contains("running"))
        #expect(try server.run("batch", try file(#"{"command":"delete","id":"a"}"#)).printed() == "1 lines done\n")
        #expect(try server.run("batch", try file("\n\n")).printed() == "0 lines done\n")
        let answers = try server.run("batch", try file("{}\n\n{\"id\":\"c\",\"after\":\"1h\"}\n"), "--json")
        #expect(
            answers.output.split(separator: "\n").compactMap { JSONObject(Array($0.utf8))?["status"] } == [
                "400", "201",
            ])
    }

    @Test func `a batch under a key can be sent again`() throws {
        let server = try WholeServer()
        let path = try file("{\"after\":\"1h\"}\n")
        for _ in 0..<2 {
            #expect(try server.run("batch", path, "--idempotency-key", "import").printed() == "1 lines done\n")
        }
        #expect(try server.run("stats").printed().contains("\ntimers       1: 1 running\n"))
    }

    @Test func `parts go in order, each under a key of its own`() throws {
        let server = ScriptedServer(
            ["a", "b"].map { _ in
                .answer("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"status\":201}\n")
            })
        defer { server.stop() }
        let service = try ServiceClient(
            server: server.address, token: nil, ca: nil, Environment([:]), timeoutMs: Patience.milliseconds)
        var sender = BatchSender(service, key: "import", json: false)
        for (number, line) in [(1, "first\n"), (9, "second\n")] {
            try sender.send(BatchLines.Part(bytes: Array(line.utf8), numbers: [number]))
        }
        #expect(sender.sent == 2 && sender.refused == 0)
        #expect(server.requests.map { $0.contains("Idempotency-Key: import-1\r\n") } == [true, false])
        #expect(server.requests.map { $0.contains("Idempotency-Key: import-2\r\n") } == [false, true])
        #expect(server.requests.map { $0.hasSuffix("\r\n\r\nfirst\n") } == [true, false])
    }

    @Test(arguments: [
        ("{\"status\":201}\n{\"status\":201}\n", "2 answers for 1 lines: is it timerd?"),
        ("", "0 answers for 1 lines: is it timerd?"),
        ("nonsense\n", "the answer to line 7 is no result: is it timerd?"),
    ])
    func `answers that are none of a batch end it`(body: String, line: String) throws {
        let server = ScriptedServer([
            .answer("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        ])
        defer { server.stop() }
        let service = try ServiceClient(
            server: server.address, token: nil, ca: nil, Environment([:]), timeoutMs: Patience.milliseconds)
        var sender = BatchSender(service, key: nil, json: false)
        let failure = #expect(throws: Failure.self) {
            try sender.send(BatchLines.Part(bytes: Array("{}\n".utf8), numbers: [7]))
        }
        #expect(failure?.line == line)
    }

    @Test func `a batch that loses its server says what is done`() throws {
        let run = CommandRun("batch", try file("\n{\"after\":\"1h\"}\n{}\n"), "--server", "http://127.0.0.1:1")
        let told = run.refusal(1)
        #expect(told.hasPrefix("timerd: lines 2 to 3: http://127.0.0.1:1: "))
        #expect(told.hasSuffix("; 0 lines before them are done"))
    }
}
