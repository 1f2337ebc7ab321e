import Glibc
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerAPI

/// Streams that read rows for themselves, by clients that take a little at a time.
struct CatchUpTests {
    private func row(after previous: Int64) throws -> LogRow {
        var records: [UInt8] = []
        let answer = StoredAnswer(.numbered(UInt64(previous)), answeredAt: 0, answer: [7])
        RecordCodec.append(answer, to: &records)
        let base = TimeBase(now: Now(elapsed: 0, wallOffset: 0), boottime: 0, boot: Hash128(high: 0, low: 1))
        let rows = BatchRows.make(records: records, first: previous + 1, previous: previous, epoch: 0, base: base)
        return try #require(rows.first)
    }

    @Test func `decoded rows are kept while they are asked for, two of them over a round`() throws {
        var cache = CatchUpCache()
        let rows = try (1...3).map { try row(after: $0) }
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

    @Test func `a history is read from the store once, also where its client pauses it`() throws {
        let store = FaultyLogStore()
        let labels = (0..<16).map { #""l\#($0)":"\#(String(repeating: "x", count: 64))""# }.joined(separator: ",")
        let first = try WholeServer(store)
        for part in 0..<4 {
            let lines = (0..<1000).map { #"{"id":"t\#(part)-\#($0)","after":"1h","labels":{\#(labels)}}"# }
            let answer = try first.ask(
                "POST", "/v1/timers/batch", lines.joined(separator: "\n"), type: "application/x-ndjson")
            try #require(answer.status == 200)
        }
        first.stop()
        // A server that has just read its log has none of the rows in memory.
        let server = try WholeServer(store)
        let rows = try rows(of: store).count
        let before = store.readCount
        let client = RawClient(port: try server.port)
        client.send("GET /v1/events?follow=false&since=0 HTTP/1.0\r\nHost: localhost\r\n\r\n")
        var last = 0
        try eventually("nothing more comes") {
            defer { last = waiting(client) }
            return last > 0 && last == waiting(client)
        }
        let lines = client.rest().split(separator: UInt8(ascii: "\n")).filter { $0.first == UInt8(ascii: "{") }
        #expect(lines.count == 8000)
        #expect(store.readCount - before == rows)
    }
}
