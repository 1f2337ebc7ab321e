import Glibc
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerAPI

/// Streams that read rows for themselves, by clients that take a little at a time.
struct CatchUpTests {
    @Test func `decoded rows are kept while they are asked for, two of them over a round`() throws {
        var cache = CatchUpCache()
        let rows = (1...3).map { answerRow(after: $0) }
        for row in rows {
            #expect(cache.events(of: row) == nil)
            cache.keep(RowEvents(try EventRow(row)))
        }
        #expect(rows.allSatisfy { cache.events(of: $0) != nil })
        cache.endRound(at: 1_000_000_000)
        #expect(rows.map { cache.events(of: $0) != nil } == [false, true, true])
        cache.endRound(at: 2_000_000_000)
        // A round in which nobody asks for them, and one that ends too late.
        cache.endRound(at: 2_100_000_000)
        #expect(cache.events(of: rows[2]) != nil)
        cache.endRound(at: 3_000_000_000)
        cache.endRound(at: 3_100_000_001)
        #expect(cache.events(of: rows[2]) == nil)
    }

    /// The bytes that have come for a client that does not read, 8 MiB at most.
    private func waiting(_ client: RawClient) -> Int {
        var buffer = [UInt8](repeating: 0, count: 8 << 20)
        return unsafe buffer.withUnsafeMutableBytes {
            unsafe recv(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_PEEK | MSG_DONTWAIT))
        }
    }

    /// A log of 8,000 events of more than a kilobyte.
    private func store() throws -> FaultyLogStore {
        let store = FaultyLogStore()
        let labels = (0..<16).map { #""l\#($0)":"\#(String(repeating: "x", count: 64))""# }.joined(separator: ",")
        let server = try WholeServer(store)
        for part in 0..<4 {
            let lines = (0..<1000).map { #"{"id":"t\#(part)-\#($0)","after":"1h","labels":{\#(labels)}}"# }
            let answer = try server.ask(
                "POST", "/v1/timers/batch", lines.joined(separator: "\n"), type: "application/x-ndjson")
            try #require(answer.status == 200)
        }
        return store
    }

    /// A server that has just read its log, so that it has none of the rows in memory; no heartbeat comes.
    private func server(_ store: FaultyLogStore) throws -> WholeServer {
        try WholeServer(store) { configuration in
            configuration.heartbeatMilliseconds = 86_400_000
            configuration.ioThreads = 1
        }
    }

    /// A client that has asked for the whole history.
    private func client(_ server: WholeServer) throws -> RawClient {
        let client = RawClient(port: try server.port)
        client.send("GET /v1/events?follow=false&since=0 HTTP/1.0\r\nHost: localhost\r\n\r\n")
        return client
    }

    /// As `client`, one that has read nothing until the server sends nothing more.
    private func pausedClient(_ server: WholeServer) throws -> RawClient {
        let client = try client(server)
        var last = 0
        try eventually("nothing more comes") {
            defer { last = waiting(client) }
            return last > 0 && last == waiting(client)
        }
        return client
    }

    /// Reads everything. Returns the number of events.
    private func eventCount(_ client: RawClient) -> Int {
        client.rest().split(separator: UInt8(ascii: "\n")).count { $0.first == UInt8(ascii: "{") }
    }

    @Test func `a history is read from the store once, also where its client pauses it`() throws {
        let store = try store()
        let server = try server(store)
        let rows = try rows(of: store).count
        #expect(eventCount(try pausedClient(server)) == 8000)
        #expect(store.readCount(by: "replay") == rows)
    }

    @Test func `clients that pause leave their places in the store to one that reads`() throws {
        let server = try server(store())
        // As many as may have rows from the store at once.
        let paused = try (0..<16).map { _ in try pausedClient(server) }
        #expect(eventCount(try client(server)) == 8000)
        for client in paused { client.reset() }
    }
}
