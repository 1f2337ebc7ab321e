import HTTPServer
import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerAPI
@testable import TimerService

/// Commits on the thread of the one client's loop.
struct SoleClientTests {
    /// A log in memory that notes which threads append.
    private final class NotingStore: LogStore {
        private let inner = MemoryLogStore()
        /// The names of the threads that appended, in order.
        let threads = Guarded<[String]>([])

        func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
            let name = FileBytes.read("/proc/thread-self/comm", limit: 64) ?? []
            let thread = String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            threads.withLock { $0.append(thread) }
            return inner.append(rows, expecting: expecting, epoch: epoch)
        }
        func open() throws(StoreError) -> StoreHead { try inner.open() }
        func delete(upTo position: Int64) throws(StoreError) -> Int { try inner.delete(upTo: position) }
        func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }
        func makeReader() throws(StoreError) -> any LogReader { try inner.makeReader() }
        func bytesOnDisk() -> Int { inner.bytesOnDisk() }
        func close() { inner.close() }
    }

    private let store = NotingStore()
    private let server: WholeServer

    init() throws {
        var engine = EngineConfiguration()
        engine.longestLed = .max
        server = try WholeServer(store, engine: engine)
    }

    /// Makes timers over one connection. Returns the threads that appended them.
    private func create(_ count: Int, over client: RawClient) throws -> [String] {
        let before = store.threads.withLock { $0.count }
        let body = #"{"after":"1h"}"#
        for _ in 0..<count {
            client.send(
                "POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(client.answer()?.status == 201)
        }
        return store.threads.withLock { Array($0[before...]) }
    }

    @Test func `a client that is alone has its commits on its loop's thread`() throws {
        let (one, other) = (RawClient(port: try server.port), RawClient(port: try server.port))
        let threads = try create(SoleClient.leastRequests + 2, over: one)
        #expect(threads.dropLast(2).first == "commit")
        #expect(threads.suffix(2).allSatisfy { $0.hasPrefix("http-") })
        #expect(try create(1, over: other) == ["commit"])
    }

    @Test(.enabled(if: ServerConfiguration(listeners: []).loops == 1, "the stream may be another loop's"))
    func `beside a stream the committer makes all commits`() throws {
        let (one, streaming) = (RawClient(port: try server.port), RawClient(port: try server.port))
        streaming.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(streaming.head()?.status == 200)
        #expect(try create(SoleClient.leastRequests + 2, over: one).allSatisfy { $0 == "commit" })
    }

    @Test func `a client is alone after some requests in a row, and no more once another one asks`() {
        let (one, other) = (NotingStore(), NotingStore())
        var client = SoleClient()
        for _ in 1..<SoleClient.leastRequests { client.asked(over: ObjectIdentifier(one)) }
        #expect(!client.isAlone)
        client.asked(over: ObjectIdentifier(one))
        #expect(client.isAlone)
        client.asked(over: ObjectIdentifier(other))
        #expect(!client.isAlone)
        client.asked(over: ObjectIdentifier(one))
        #expect(!client.isAlone)
    }
}
