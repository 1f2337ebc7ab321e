import TestSupport
import Testing
import TimerLog
import WireJSON

@testable import TimerAPI

/// Exports and imports at servers that each own some of the partitions, against a server that owns them all.
@Suite(.serialized) struct MoveInPartsTests {
    private let time = ManualTime()
    private let volume: MemoryLogVolume
    private let layout: PartitionLayout

    init() throws {
        layout = try #require(PartitionLayout(strided: 16))
        volume = MemoryLogVolume(layout)
    }

    /// Serves a volume by servers with partitions dealt out in turn.
    private func serve<Result>(
        _ count: Int, of other: MemoryLogVolume? = nil, _ body: (ServerGroup) throws -> Result
    ) throws -> Result {
        let owned = (0..<count).map { server in (0..<layout.count).filter { $0 % count == server } }
        let group = try ServerGroup(other ?? volume, time, owned: owned)
        defer { group.stop() }
        return try body(group)
    }

    private static let lines = "application/x-ndjson"

    /// Makes timers with payloads of some bytes, and drains all servers.
    private func fill(_ group: ServerGroup, _ count: Int, payload bytes: Int = 0) throws {
        let payload = String(repeating: "x", count: bytes)
        let body = (0..<count).map { #"{"id":"t\#($0)","after":"\#($0 % 40 + 1)h","payload":"\#(payload)"}"# }
        let made = try group.ask(
            0, "POST", "/v1/timers/batch?results=brief", body.joined(separator: "\n") + "\n", type: Self.lines)
        try #require(made.status == 200, "\(made.text)")
        try #require(try group.ask(0, "POST", "/v1/drain").status == 200)
    }

    /// The lines of a whole export, without its first and last one; and its first one.
    private func export(_ group: ServerGroup, _ server: Int = 0) throws -> (head: String, lines: [String]) {
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

    /// Asks for an export, and reads its head; more of it than the connections on the way hold is still to come.
    private func beginExport(_ group: ServerGroup, _ server: Int) throws -> RawClient {
        let client = RawClient(port: try group.port(of: server))
        client.send("GET /v1/export HTTP/1.0\r\nHost: localhost\r\n\r\n")
        while try #require(client.line()) != "" {}
        return client
    }

    private func hasEnd(_ client: RawClient) -> Bool {
        String(decoding: client.rest().suffix(100), as: UTF8.self).contains(#"{"end":true"#)
    }

    @Test func `an export has the lines of one at a server that owns all`() throws {
        let (spread, forward) = try serve(3) { group in
            try fill(group, 60)
            #expect((0..<3).allSatisfy { group.timers(of: $0) > 0 })
            #expect(try group.ask(1, "HEAD", "/v1/export").status == 200)
            return (try export(group, 0), try export(group, 2))
        }
        let whole = try serve(1) { group in try export(group) }
        #expect(whole.lines.count == 60)
        #expect(spread.lines.sorted() == whole.lines.sorted() && forward.lines.sorted() == whole.lines.sorted())
        for head in [spread.head, forward.head] {
            #expect(head.contains(#""drained":true,"secrets":false"#), "\(head)")
        }
    }

    @Test func `an export is of one moment or has no end`() throws {
        try serve(3) { group in
            try fill(group, 250, payload: 60_000)
            let whole = try beginExport(group, 0)
            #expect(hasEnd(whole))
            // Each of the others is drained again at once, or owned again; what was read is of no one moment all the same.
            for server in 0..<3 {
                let undrained = try beginExport(group, 0)
                group.drain(server, back: true)
                group.drain(server)
                #expect(!hasEnd(undrained), "server \(server)")
            }
            let moved = try beginExport(group, 0)
            try group.move(5, to: 0)
            #expect(!hasEnd(moved))
        }
    }

    @Test func `an export is refused where an owner is not known`() throws {
        try serve(3) { group in
            try fill(group, 5)
            group.publish(to: 0, as: [[], [1, 4, 7, 10, 13], []])
            let answer = try group.ask(0, "GET", "/v1/export")
            #expect(answer.status == 503 && answer.text.contains("partition-unavailable"), "\(answer.text)")
        }
    }

    @Test func `what one export has is imported by several servers, each part once`() throws {
        let (head, lines) = try serve(1) { group in
            try fill(group, 60)
            return try export(group)
        }
        let whole = [head] + lines + [#"{"end":true,"lines":61}"#]
        let other = MemoryLogVolume(layout)
        try serve(3, of: other) { group in
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
                // It is done in every partition, whatever is sent.
                #expect(another.status == 200 && another.text.contains(#""applied":false"#), "\(another.text)")
            }
            #expect((0..<3).allSatisfy { group.timers(of: $0) > 0 })
            try #require(try group.ask(0, "POST", "/v1/drain").status == 200)
            #expect(try export(group, 1).lines.sorted() == lines.sorted())
        }
        // The same volume at a server that owns all: it knows that every part is done.
        try serve(1, of: other) { group in
            let state = try group.ask(0, "GET", "/v1/import/\(id(head))")
            #expect(state.text.contains(#""next":3,"complete":true"#))
            #expect(try export(group).lines.sorted() == lines.sorted())
        }
    }

    @Test func `a line that one owner refuses changes nothing at any`() throws {
        let (head, lines) = try serve(1) { group in
            try fill(group, 30)
            return try export(group)
        }
        try serve(3, of: MemoryLogVolume(layout)) { group in
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
            #expect((0..<3).map { group.timers(of: $0) }.reduce(0, +) == 1)
            #expect(try group.ask(0, "GET", "/v1/import/\(id(head))").text.contains(#""next":0"#))
        }
    }

    @Test func `a part of which an owner has taken nothing is repeated, and done once`() throws {
        let (head, lines) = try serve(1) { group in
            try fill(group, 60)
            return try export(group)
        }
        let whole = [head] + lines + [#"{"end":true,"lines":61}"#]
        try serve(3, of: MemoryLogVolume(layout)) { group in
            // It checks lines, and takes none.
            group.drain(2)
            let cut = try send(group, 0, whole, id: id(head))
            #expect(cut.status == 503 && cut.text.contains(#""outcome":"unknown""#), "\(cut.text)")
            let there = (0..<3).map { group.timers(of: $0) }.reduce(0, +)
            #expect(there > 0 && there < 60)
            group.drain(2, back: true)
            let again = try send(group, 1, whole, id: id(head))
            #expect(
                again.text
                    == #"{"applied":true,"next":1,"complete":true,"timers":\#(60 - there),"deliveries":0,"skipped":0}"#)
            try #require(try group.ask(0, "POST", "/v1/drain").status == 200)
            #expect(try export(group, 1).lines.sorted() == lines.sorted())
        }
    }

    @Test func `lines go to whichever server owns their timers by now`() throws {
        let (head, lines) = try serve(1) { group in
            try fill(group, 60)
            return try export(group)
        }
        try serve(3, of: MemoryLogVolume(layout)) { group in
            let first = try send(group, 0, [head] + lines.prefix(30), id: id(head))
            #expect(first.status == 200)
            try group.move(4, to: 2)
            group.publish(to: 0)
            let second = try send(group, 0, lines.dropFirst(30) + [#"{"end":true,"lines":61}"#], id: id(head), part: 1)
            #expect(second.status == 200 && second.text.contains(#""complete":true"#), "\(second.text)")
            #expect((0..<3).map { group.timers(of: $0) }.reduce(0, +) == 60)
        }
    }

    @Test func `clients can't name portions of an export`() throws {
        try serve(3) { group in
            try fill(group, 30)
            let named = try group.ask(
                0, "GET", "/v1/export", headers: "Timerd-Partitions: 0001\r\nTimerd-Export: timers\r\n")
            #expect(named.text.hasPrefix(#"{"export""#) && named.text.contains(#"{"end":true,"lines":31}"#))
        }
    }
}
