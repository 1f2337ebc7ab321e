import Platform
import TestSupport
import Testing
import TimerAPI
import TimerLog

/// Streams and long polls that clients hold while the log moves from one server to another.
@Suite(.serialized) struct StreamMoveTests {
    private static let sse = "text/event-stream"
    private static let ndjson = "application/x-ndjson"

    /// A stream that a client reads.
    private final class Reader {
        private let client: RawClient
        let head: RawClient.Answer
        private(set) var text = ""
        private(set) var isEnded = false

        init(
            _ group: ServerGroup, _ server: Int, _ target: String, _ type: String = StreamMoveTests.ndjson,
            headers: String = ""
        ) throws {
            client = RawClient(port: try group.port(of: server))
            client.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: \(type)\r\n\(headers)\r\n")
            head = try #require(client.head())
            try #require(head.status == 200)
        }

        /// Reads until the text has `part`.
        func read(until part: String) throws { try read { $0.contains(part) } }

        /// Reads until `isEnough` says so of the text.
        func read(until isEnough: (String) -> Bool) throws {
            while !isEnough(text) {
                let chunk = try #require(client.chunk(), "\(text)")
                try #require(!chunk.isEmpty, "\(text)")
                text += String(decoding: chunk, as: UTF8.self)
            }
        }

        /// Reads to the end; false where the stream was cut.
        func readToEnd() -> Bool {
            while let chunk = client.chunk() {
                if chunk.isEmpty { return true }
                text += String(decoding: chunk, as: UTF8.self)
            }
            return false
        }
    }

    private func serve<Result>(
        configure: (Int, inout APIConfiguration) -> Void = { _, _ in }, _ body: (ServerGroup) throws -> Result
    ) throws -> Result {
        let group = try ServerGroup(MemoryLogStore(), ManualTime(), 3, configure: configure)
        defer { group.stop() }
        return try body(group)
    }

    private func put(_ group: ServerGroup, _ server: Int, _ id: String, _ body: String = #"{"after":"1h"}"#) throws {
        let answer = try group.ask(server, "PUT", "/v1/timers/\(id)", body)
        try #require(answer.status == 201, "\(answer.text)")
    }

    /// Waits until the first server has that many long polls, and the one that passes them on knows where they began: it is told
    /// before it gets the answer to a later request. Requests come by any of its loops.
    private func awaitPolls(_ count: Int, _ group: ServerGroup, _ server: Int) throws {
        try eventually("the polls wait") { try group.streams(of: 0) == count }
        for _ in 0..<32 { try #require(try group.ask(server, "GET", "/v1/timers/t").status == 200) }
    }

    @Test(arguments: 0..<3, [Self.sse, Self.ndjson])
    func `a stream goes on without a gap or a repeat`(server: Int, type: String) throws {
        try serve { group in
            let reader = try Reader(group, server, "/v1/events?since=0", type)
            for (turn, owner) in [1, 0, 2, 2, 1].enumerated() {
                try put(group, turn == 0 ? 0 : [1, 0, 2, 2, 1][turn - 1], "t\(turn)")
                if turn % 2 == 0 { try reader.read(until: #""t\#(turn)""#) }
                try group.moveKnown(to: owner)
            }
            try put(group, 1, "last")
            _ = try group.ask(1, "POST", "/v1/timers/last/cancel")
            try reader.read(until: "cancelled")
            let all = try group.ask(1, "GET", "/v1/events?since=0&follow=false", headers: "Accept: \(type)\r\n")
            #expect(reader.text == all.text)
        }
    }

    @Test(arguments: 0..<3) func `a stream without a beginning goes on where it began`(server: Int) throws {
        try serve { group in
            try put(group, 0, "before")
            let reader = try Reader(group, server, "/v1/events")
            group.drop()
            try group.move(to: 1)
            try put(group, 1, "t")
            for server in 0..<3 { group.publish(to: server) }
            try reader.read(until: "activated")
            #expect(!reader.text.contains("before") && reader.text.contains("created"), "\(reader.text)")
        }
    }

    @Test(arguments: 0..<3) func `a limit counts over the move`(server: Int) throws {
        try serve { group in
            let reader = try Reader(group, server, "/v1/events?limit=5")
            try put(group, 0, "one")
            try reader.read(until: "activated")
            try group.moveKnown(to: 1)
            try put(group, 1, "two")
            try put(group, 1, "three")
            #expect(reader.readToEnd())
            #expect(reader.text.split(separator: "\n").count == 5, "\(reader.text)")
        }
    }

    @Test(arguments: 0..<3) func `a history goes on`(server: Int) throws {
        try serve { group in
            let payload = String(repeating: "x", count: 60_000)
            for index in 0..<100 { try put(group, 0, "t\(index)", #"{"after":"1h","payload":"\#(payload)"}"#) }
            let reader = try Reader(group, server, "/v1/events?since=0&follow=false")
            try group.moveKnown(to: 1)
            #expect(reader.readToEnd())
            #expect(reader.text.split(separator: "\n").count == 200)
        }
    }

    @Test(arguments: 0..<3) func `a long poll waits on, and misses nothing`(server: Int) throws {
        try serve { group in
            try put(group, 0, "t", #"{"every":"1h"}"#)
            // An earlier fire is not waited for.
            try #require(try group.ask(0, "POST", "/v1/timers/t/fire").status == 200)
            let client = RawClient(port: try group.port(of: server))
            client.send("GET /v1/timers/t/wait?timeout=10m HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try awaitPolls(1, group, server)
            group.drop()
            try group.move(to: 1)
            // Before any server can ask the new owner.
            try #require(try group.ask(1, "POST", "/v1/timers/t/fire").status == 200)
            for server in 0..<3 { group.publish(to: server) }
            let answer = try #require(client.answer())
            #expect(answer.status == 200 && answer.text.contains(#""fire":2"#), "\(answer.text)")
            try eventually("no stream is left") { try group.streams(of: 0) + group.streams(of: 1) == 0 }
        }
    }

    @Test func `many long polls wait on, more than are asked for at once`() throws {
        try serve { group in
            try put(group, 0, "t")
            let clients = try (0..<600).map { _ in RawClient(port: try group.port(of: 2)) }
            for client in clients {
                client.send("GET /v1/timers/t/wait?timeout=10m HTTP/1.1\r\nHost: localhost\r\n\r\n")
            }
            try awaitPolls(600, group, 2)
            group.drop()
            try group.move(to: 1)
            try #require(try group.ask(1, "POST", "/v1/timers/t/fire").status == 200)
            for server in 0..<3 { group.publish(to: server) }
            let statuses = clients.map { $0.answer()?.status }
            #expect(Set(statuses) == [200])
        }
    }

    @Test(arguments: 0..<3) func `a long poll ends at its time without any owner`(server: Int) throws {
        try serve { group in
            try put(group, 0, "t")
            let client = RawClient(port: try group.port(of: server))
            client.send("GET /v1/timers/t/wait?timeout=2s HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try awaitPolls(1, group, server)
            group.drop()
            let answer = try #require(client.answer())
            #expect(answer.status == 204 && answer.header("event-id")?.count == 19, "\(answer)")
        }
    }

    @Test(arguments: [Self.sse, Self.ndjson], [0, 2])
    func `heartbeats go on without any owner`(type: String, server: Int) throws {
        try serve(configure: { $1.heartbeatMilliseconds = 200 }) { group in
            try put(group, 0, "t")
            let reader = try Reader(group, server, "/v1/events?since=0", type)
            try reader.read(until: "activated")
            group.drop()
            let events = reader.text
            // Both may hold one more of the owner's.
            try reader.read {
                $0.dropFirst(events.count).split(separator: "\n", omittingEmptySubsequences: false).count > 4
            }
            let lines = reader.text.dropFirst(events.count).split(separator: "\n")
            #expect(lines.allSatisfy { $0.hasPrefix("id: ") } && Set(lines).count < 2, "\(reader.text)")
            #expect(lines.isEmpty == (type == Self.ndjson))
        }
    }

    @Test(arguments: 0..<3) func `a subscriber stays one`(server: Int) throws {
        try serve { group in
            try put(group, 0, "t", #"{"every":"1h","start":"subscriber","stop":"subscriber"}"#)
            let reader = try Reader(group, server, "/v1/timers/t/events?since=0")
            try reader.read(until: "activated")
            try group.moveKnown(to: 1)
            _ = try group.ask(1, "POST", "/v1/timers/t/fire")
            try reader.read(until: "fired")
            #expect(!reader.text.contains("suspended") && !reader.text.contains("resumed"), "\(reader.text)")
        }
    }

    @Test(arguments: [1, 2]) func `a stream goes on though its new owner has no place`(server: Int) throws {
        try serve(configure: { if $0 == 1 { $1.maximumStreams = 1 } }) { group in
            let reader = try Reader(group, server, "/v1/events")
            let other = try Reader(group, 0, "/v1/events")
            try group.moveKnown(to: 1)
            try put(group, 1, "t")
            try reader.read(until: "activated")
            try other.read(until: "activated")
            #expect(try group.ask(1, "GET", "/v1/events").status == 503)
        }
    }

    @Test(arguments: 0..<3) func `a stream of a timer that is deleted meanwhile shows that and ends`(server: Int) throws
    {
        try serve { group in
            try put(group, 0, "t")
            let reader = try Reader(group, server, "/v1/timers/t/events")
            group.drop()
            try group.move(to: 1)
            try #require(try group.ask(1, "DELETE", "/v1/timers/t").status == 204)
            for server in 0..<3 { group.publish(to: server) }
            #expect(reader.readToEnd())
            #expect(reader.text.contains("deleted"), "\(reader.text)")
        }
    }

    /// Makes a key that may read; returns its id, and the header line that a client sends with it.
    private func key(_ group: ServerGroup, _ root: String) throws -> (id: String, header: String) {
        let made = try group.ask(0, "POST", "/v1/keys", #"{"name":"reader","scopes":["read"]}"#, headers: root)
        try #require(made.status == 201, "\(made.text)")
        func value(_ name: String) throws -> Substring {
            let start = try #require(made.text.firstRange(of: "\"\(name)\":\"")).upperBound
            return made.text[start...].prefix { $0 != "\"" }
        }
        return (String(try value("id")), "Authorization: Bearer \(try value("secret"))\r\n")
    }

    @Test(arguments: 0..<3) func `a stream and a long poll whose key is revoked meanwhile end`(server: Int) throws {
        let token = "a-token-of-this-test"
        let root = "Authorization: Bearer \(token)\r\n"
        var access = AccessSettings()
        access.tokens = [Array(token.utf8)]
        try serve(configure: { $1.access.publish(access) }) { group in
            try #require(try group.ask(0, "PUT", "/v1/timers/t", #"{"after":"1h"}"#, headers: root).status == 201)
            let key = try key(group, root)
            let reader = try Reader(group, server, "/v1/events?since=0", headers: key.header)
            try reader.read(until: "activated")
            let poll = RawClient(port: try group.port(of: server))
            poll.send("GET /v1/timers/t/wait?timeout=10m&since=0 HTTP/1.1\r\nHost: localhost\r\n\(key.header)\r\n")
            try eventually("both wait") { try group.streams(of: 0, headers: root) == 2 }
            group.drop()
            try group.move(to: 1)
            try #require(try group.ask(1, "DELETE", "/v1/keys/\(key.id)", headers: root).status == 204)
            for server in 0..<3 { group.publish(to: server) }
            #expect(reader.readToEnd(), "\(reader.text)")
            #expect(poll.head()?.status == 401)
        }
    }

    @Test func `what a client says of another server's stream is not heard`() throws {
        try serve { group in
            try put(group, 0, "t")
            for server in 0..<2 {
                let lie = "timerd-stream: 0000000000000000000 1\r\nTimerd-Stream: new\r\n"
                let answer = try group.ask(server, "GET", "/v1/events?since=0&follow=false", headers: lie)
                #expect(answer.text.split(separator: "\n").count == 2 && answer.header("timerd-begin") == nil)
            }
        }
    }
}
