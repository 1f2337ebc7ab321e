import TestSupport
import Testing
import TimerLog

/// Exports and imports at servers that forward to the one that owns the timers.
@Suite(.serialized) struct ForwardedMoveTests {
    private let time = ManualTime()
    private let store = MemoryLogStore()

    private func serve<Result>(
        _ other: MemoryLogStore? = nil, _ body: (ServerGroup) throws -> Result
    ) throws -> Result {
        let group = try ServerGroup(other ?? store, time, 3)
        defer { group.stop() }
        return try body(group)
    }

    private static let lines = "application/x-ndjson"

    /// Makes timers with payloads of some bytes, and drains.
    private func fill(_ group: ServerGroup, _ count: Int, payload bytes: Int = 0) throws {
        let payload = String(repeating: "x", count: bytes)
        let body = (0..<count).map { #"{"id":"t\#($0)","after":"\#($0 % 40 + 1)h","payload":"\#(payload)"}"# }
        let made = try group.ask(
            0, "POST", "/v1/timers/batch?results=brief", body.joined(separator: "\n") + "\n", type: Self.lines)
        try #require(made.status == 200, "\(made.text)")
        try #require(try group.ask(0, "POST", "/v1/drain").status == 200)
    }

    /// The first line of a whole export, and the lines between the first and the last.
    private func export(_ group: ServerGroup, _ server: Int) throws -> (head: String, lines: [String]) {
        let answer = try group.ask(server, "GET", "/v1/export")
        try #require(answer.status == 200, "\(answer.text)")
        let lines = answer.text.split(separator: "\n").map(String.init)
        #expect(lines.last == #"{"end":true,"lines":\#(lines.count - 1)}"#)
        return (try #require(lines.first), Array(lines.dropFirst().dropLast()))
    }

    private func send(
        _ group: ServerGroup, _ server: Int, _ lines: [String], id: String, part: Int = 0
    ) throws -> RawClient.Answer {
        try group.ask(
            server, "POST", "/v1/import?export=\(id)&part=\(part)", lines.joined(separator: "\n") + "\n",
            type: Self.lines)
    }

    private func id(_ head: String) -> String { String(head.dropFirst(#"{"export":""#.count).prefix(32)) }

    /// Asks for an export and reads its first byte, which the server writes once it has checked the drain. More of
    /// the export than the connections on the way hold is still to come.
    private func beginExport(_ group: ServerGroup, _ server: Int) throws -> RawClient {
        let client = RawClient(port: try group.port(of: server))
        client.send("GET /v1/export HTTP/1.0\r\nHost: localhost\r\n\r\n")
        while try #require(client.line()) != "" {}
        _ = try #require(client.take(1))
        return client
    }

    private func hasEnd(_ client: RawClient) -> Bool {
        String(decoding: client.rest().suffix(100), as: UTF8.self).contains(#"{"end":true"#)
    }

    @Test func `an export has the same lines at every server`() throws {
        try serve { group in
            try fill(group, 60)
            let exports = try (0..<3).map { try export(group, $0) }
            for export in exports {
                #expect(export.lines.count == 60 && export.lines == exports[0].lines)
                #expect(export.head.contains(#""drained":true,"secrets":false"#), "\(export.head)")
            }
            #expect(try group.ask(1, "HEAD", "/v1/export").status == 200)
        }
    }

    @Test(arguments: [0, 1]) func `an export is of one moment or has no end`(server: Int) throws {
        try serve { group in
            try fill(group, 250, payload: 60_000)
            #expect(hasEnd(try beginExport(group, server)))
            // The log is drained again at once, or owned again; the export is not of one moment all the same.
            let undrained = try beginExport(group, server)
            group.drain(back: true)
            group.drain()
            #expect(!hasEnd(undrained))
            let moved = try beginExport(group, server)
            try group.move(to: 0)
            #expect(!hasEnd(moved))
        }
    }

    @Test func `what one export has is imported by several servers, each part once`() throws {
        let (head, lines) = try serve { group in
            try fill(group, 60)
            return try export(group, 1)
        }
        let whole = [head] + lines + [#"{"end":true,"lines":61}"#]
        try serve(MemoryLogStore()) { group in
            for part in 0..<3 {
                let piece = Array(whole.dropFirst(part * 21).prefix(21))
                let state = try group.ask((part + 1) % 3, "GET", "/v1/import/\(id(head))")
                #expect(state.text == #"{"export":"\#(id(head))","next":\#(part),"complete":false}"#)
                let first = try send(group, part, piece, id: id(head), part: part)
                let timers = piece.count { $0.hasPrefix(#"{"timer""#) }
                #expect(
                    first.text
                        == #"{"applied":true,"next":\#(part + 1),"complete":\#(part == 2),"timers":\#(timers),"deliveries":0,"skipped":0}"#
                )
                let again = try send(group, (part + 1) % 3, piece, id: id(head), part: part)
                #expect(again.text == #"{"applied":false,"next":\#(part + 1),"complete":\#(part == 2)}"#)
                let another = try send(group, 0, Array(piece.dropLast()), id: id(head), part: part)
                // The import is complete, whatever is sent.
                #expect(another.status == 200 && another.text.contains(#""applied":false"#), "\(another.text)")
            }
            #expect(group.timers == 60)
            try #require(try group.ask(0, "POST", "/v1/drain").status == 200)
            // The order of the lines follows the secret of the log.
            #expect(try export(group, 1).lines.sorted() == lines.sorted())
        }
    }

    @Test func `a line that is refused changes nothing`() throws {
        let (head, lines) = try serve { group in
            try fill(group, 30)
            return try export(group, 1)
        }
        try serve(MemoryLogStore()) { group in
            for (place, line) in [(7, "{"), (20, #"{"key":1}"#), (30, lines[29].replacing("running", with: "dancing"))]
            {
                var wrong = [head] + lines
                wrong[place] = line
                let answer = try send(group, 1, wrong, id: id(head))
                #expect(answer.status == 400 && answer.text.contains(#""line":\#(place + 1)"#), "\(answer.text)")
            }
            _ = try group.ask(2, "POST", "/v1/timers", #"{"id":"t11","after":"1s"}"#)
            let taken = try send(group, 0, [head] + lines, id: id(head))
            #expect(taken.status == 409 && taken.text.contains(#""timer":"t11""#), "\(taken.text)")
            #expect(group.timers == 1)
            #expect(try group.ask(0, "GET", "/v1/import/\(id(head))").text.contains(#""next":0"#))
        }
    }
}
