import Testing

@testable import PeerHTTP

/// A session and the events that it reported.
private final class Side: HTTP2Events {
    let session: HTTP2Session
    var fields: [Int32: [String]] = [:]
    var content: [Int32: [UInt8]] = [:]
    var ended: [Int32] = []
    var closed: [Int32] = []
    var refused: [Int32] = []
    var leaves = false
    var heads: [Int32] = []
    var sent: [Int32] = []
    /// Whether content is consumed as it comes.
    var consumes = true

    init(_ role: HTTP2Session.Role, _ limits: HTTP2Session.Limits = .init()) {
        session = HTTP2Session(role, limits)
        session.events = self
    }

    func headBegan(_ stream: Int32) { fields[stream] = [] }
    func fieldCame(_ stream: Int32, name: Span<UInt8>, value: Span<UInt8>) {
        func text(_ bytes: Span<UInt8>) -> String { String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        let (name, value) = (text(name), text(value))
        fields[stream, default: []].append("\(name)=\(value)")
    }
    func headEnded(_ stream: Int32) { heads.append(stream) }
    func contentCame(_ stream: Int32, _ bytes: Span<UInt8>) {
        for index in bytes.indices { content[stream, default: []].append(bytes[index]) }
        if consumes { session.consume(stream, bytes.count) }
    }
    func contentEnded(_ stream: Int32) { ended.append(stream) }
    func contentSent(_ stream: Int32) { sent.append(stream) }
    func streamClosed(_ stream: Int32, isRefused: Bool) {
        closed.append(stream)
        if isRefused { refused.append(stream) }
    }
    func goAwayCame(last: Int32) { leaves = true }
}

struct HTTP2SessionTests {
    private let client = Side(.client)
    private let server: Side

    init() {
        var limits = HTTP2Session.Limits()
        limits.streamWindow = 100_000
        server = Side(.server, limits)
    }

    /// Carries bytes between both until neither has any.
    private func carry() { carry(client, server) }

    private func carry(_ one: Side, _ other: Side) {
        var moved = true
        while moved {
            moved = false
            for (from, to) in [(one, other), (other, one)] {
                var bytes: [UInt8] = []
                let isSound = unsafe from.session.send { part in
                    unsafe bytes.append(contentsOf: part)
                    return true
                }
                #expect(isSound)
                if bytes.isEmpty { continue }
                moved = true
                let isTaken = unsafe bytes.withUnsafeBytes { bytes in unsafe to.session.receive(bytes) }
                #expect(isTaken)
            }
        }
    }

    private var get: HTTP2Fields {
        var fields = HTTP2Fields()
        for (name, value) in [(":method", "GET"), (":scheme", "http"), (":path", "/v1/timers"), (":authority", "a")] {
            fields.add(Array(name.utf8)[...], value.utf8)
        }
        return fields
    }

    private func status(_ code: String) -> HTTP2Fields {
        var fields = HTTP2Fields()
        fields.add(":status", code.utf8)
        return fields
    }

    @Test func `a request reaches the server, and its answer the client`() throws {
        var asked = get
        asked.add(Array("Idempotency-Key".utf8)[...], "k".utf8, isRare: true)
        let stream = try #require(client.session.request(asked, content: Array("body".utf8)))
        carry()
        #expect(server.fields[stream]?.last == "idempotency-key=k")
        #expect(server.content[stream] == Array("body".utf8) && server.ended == [stream])
        server.session.respond(stream, status("201"), content: Array("made".utf8))
        carry()
        #expect(client.fields[stream] == [":status=201"] && client.content[stream] == Array("made".utf8))
        #expect(client.closed == [stream] && server.closed == [stream])
    }

    @Test func `an interim response comes ahead of the answer`() throws {
        let stream = try #require(client.session.request(get, content: nil))
        carry()
        var hints = status("103")
        hints.add(Array("timerd-begin".utf8)[...], "7".utf8, isRare: true)
        server.session.inform(stream, hints)
        carry()
        #expect(client.fields[stream] == [":status=103", "timerd-begin=7"] && client.heads == [stream])
        #expect(client.ended.isEmpty)
        server.session.respond(stream, status("200"), content: Array("fired".utf8))
        carry()
        #expect(client.fields[stream] == [":status=200"] && client.content[stream] == Array("fired".utf8))
        #expect(client.closed == [stream] && server.closed == [stream])
    }

    @Test func `an answer without content ends with its head`() throws {
        let stream = try #require(client.session.request(get, content: nil))
        carry()
        server.session.respond(stream, status("204"), content: nil)
        carry()
        #expect(client.heads == [stream] && client.ended == [stream] && client.content[stream] == nil)
    }

    @Test func `an answer goes on until it is finished`() throws {
        let stream = try #require(client.session.request(get, content: nil))
        carry()
        server.session.respond(stream, status("200"), content: [], isWhole: false)
        carry()
        #expect(client.heads == [stream] && client.ended.isEmpty && server.sent == [stream])
        for part in ["one", "two"] {
            server.session.write(stream, Array(part.utf8)[...])
            carry()
        }
        #expect(client.content[stream] == Array("onetwo".utf8) && client.ended.isEmpty)
        server.session.finish(stream)
        carry()
        #expect(client.ended == [stream] && client.closed == [stream])
    }

    @Test func `content that waits stays where something is written after its end`() throws {
        let stream = try #require(client.session.request(get, content: nil))
        carry()
        server.session.respond(stream, status("200"), content: [1, 2, 3])
        server.session.write(stream, [4])
        carry()
        #expect(client.content[stream] == [1, 2, 3] && client.ended == [stream])
    }

    @Test func `content waits where it is not consumed, and other streams go on`() throws {
        server.consumes = false
        let large = try #require(client.session.request(get, content: [UInt8](repeating: 1, count: 250_000)))
        let small = try #require(client.session.request(get, content: [2]))
        carry()
        #expect(server.content[large]?.count == 100_000 && server.ended == [small])
        #expect(client.session.waitingBytes(large) == 150_000)
        server.consumes = true
        server.session.consume(large, 100_000)
        carry()
        #expect(server.content[large]?.count == 250_000 && server.ended == [small, large])
    }

    @Test func `either side gives a stream up`() throws {
        let stream = try #require(client.session.request(get, content: nil))
        carry()
        client.session.cancel(stream)
        carry()
        #expect(server.closed == [stream] && client.closed == [stream])
        server.session.write(stream, [1])
        server.session.finish(stream)
        let next = try #require(client.session.request(get, content: nil))
        carry()
        server.session.cancel(next)
        carry()
        #expect(client.closed == [stream, next] && client.heads.isEmpty)
    }

    @Test func `who leaves takes no further streams, and ends those under way`() throws {
        let stream = try #require(client.session.request(get, content: nil))
        carry()
        server.session.leave()
        carry()
        #expect(client.leaves)
        server.session.respond(stream, status("200"), content: [1])
        carry()
        #expect(client.content[stream] == [1])
        let late = client.session.request(get, content: nil)
        carry()
        #expect(late == nil || server.heads == [stream])
    }

    @Test func `a request that comes before the GOAWAY has left is refused as not looked at`() throws {
        let first = try #require(client.session.request(get, content: nil))
        carry()
        server.session.leave()
        let late = try #require(client.session.request(get, content: [1]))
        carry()
        #expect(server.heads == [first] && server.fields[late] == nil && server.content[late] == nil)
        #expect(client.refused == [late])
    }

    @Test func `streams that are not consumed leave the others their room, and give it back when they end`() throws {
        server.consumes = false
        for _ in 0..<200 {
            let stream = try #require(client.session.request(get, content: [UInt8](repeating: 1, count: 150_000)))
            carry()
            #expect(server.content[stream]?.count == 100_000)
        }
        let last = try #require(client.session.request(get, content: [2]))
        carry()
        #expect(server.ended == [last])
    }

    @Test func `a request beyond what the server takes is refused as not looked at`() throws {
        var limits = HTTP2Session.Limits()
        limits.streams = 1
        let strict = Side(.server, limits)
        let streams = try (0..<3).map { _ in try #require(client.session.request(get, content: nil)) }
        carry(client, strict)
        #expect(strict.heads == [streams[0]])
        #expect(client.refused == Array(streams[1...]) && client.closed == client.refused)
    }

    @Test func `what is not HTTP 2 ends the connection`() {
        let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let isTaken = unsafe bytes.withUnsafeBytes { bytes in unsafe server.session.receive(bytes) }
        #expect(!isTaken)
    }

    @Test func `a head that is too large is refused, and the others are not`() throws {
        var asked = get
        asked.add("x", [UInt8](repeating: 0x61, count: 60_000), isRare: true)
        let large = client.session.request(asked, content: nil)
        let stream = try #require(client.session.request(get, content: nil))
        carry()
        #expect(server.heads.contains(stream))
        #expect(large.map { !server.heads.contains($0) || (server.fields[$0]?.count ?? 0) <= 5 } ?? true)
    }
}
