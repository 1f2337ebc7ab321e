import HTTPServer
import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerAPI
@testable import TimerService

/// Commits on the thread of the loop whose requests come one at a time.
struct RequestSequenceTests {
    /// A log in memory that notes which threads append.
    private final class NotingStore: LogStore {
        private let inner = MemoryLogStore()
        /// The names of the threads that appended, in order.
        let threads = Guarded<[String]>([])

        func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
            let name = threadName
            threads.withLock { $0.append(name) }
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
        // No request takes so long, on however slow a machine.
        server = try WholeServer(store, engine: engine) { $0.commitInterval = 3_600_000_000_000 }
    }

    /// Makes a timer. Returns the thread that appended it.
    private func create(over client: RawClient) throws -> String? {
        let body = #"{"after":"1h"}"#
        client.send(
            "POST /v1/timers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(client.answer()?.status == 201)
        return store.threads.withLock { $0.last }
    }

    @Test func `a client that is alone has its commits on its loop's thread`() throws {
        let one = RawClient(port: try server.port)
        #expect(try create(over: one) == "commit")
        try eventually("the loop's thread appends") { try create(over: one)?.hasPrefix("http-") == true }
    }

    @Test func `most batches of several holds of the lock are appended once`() throws {
        let client = RawClient(port: try server.port)
        let lines = String(repeating: #"{"after":"1h"}"# + "\n", count: 3 * APILimits.appliedPerStep)
        let batches = 20
        var appendedOnce = 0
        for _ in 0..<batches {
            let before = store.threads.withLock { $0.count }
            client.send(
                "POST /v1/timers/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                    + "Content-Length: \(lines.utf8.count)\r\n\r\n\(lines)")
            #expect(client.answer()?.status == 200)
            if store.threads.withLock({ $0.count }) == before + 1 { appendedOnce += 1 }
        }
        // A committer that is awake for another reason takes what it finds.
        #expect(appendedOnce > batches / 2)
    }

    @Test(.enabled(if: ServerConfiguration(listeners: []).loops == 1, "the stream may be another loop's"))
    func `beside a stream the committer makes all commits`() throws {
        let (one, streaming) = (RawClient(port: try server.port), RawClient(port: try server.port))
        streaming.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(streaming.head()?.status == 200)
        let end = Clocks.monotonic() + 2 * RequestSequence.leastLength
        while Clocks.monotonic() < end { #expect(try create(over: one) == "commit") }
    }

    @Test func `a loop that is busy without a pause commits at intervals`() {
        let interval: Int64 = 20
        var commits = BusyCommits(interval: interval)
        func isDue(_ instant: Int64, isIdle: Bool = false) -> Bool { commits.isDue(isIdle: isIdle, at: instant) }
        for start in [0, 10 * interval] {
            #expect(!isDue(start))
            #expect(!isDue(start + interval - 1))
            #expect(isDue(start + interval))
            #expect(!isDue(start + interval + 1))
            #expect(isDue(start + 2 * interval))
            #expect(isDue(start + 2 * interval, isIdle: true))
        }
    }

    @Test func `a sequence is established once no client has been in another one's way for a while`() {
        let (one, other) = (NotingStore(), NotingStore())
        let length = RequestSequence.leastLength
        var sequence = RequestSequence()
        func asked(_ client: NotingStore, at instant: Int64, isBesideOthers: Bool = false) -> Bool {
            sequence.asked(over: ObjectIdentifier(client), at: instant, isBesideOthers: isBesideOthers)
            return sequence.isEstablished
        }
        #expect(!asked(one, at: 10 * length))
        #expect(!asked(other, at: 11 * length - 1))
        #expect(asked(one, at: 11 * length) && sequence.isOfMany)
        #expect(asked(one, at: 11 * length, isBesideOthers: true), "a client is in its own way")
        #expect(!asked(other, at: 11 * length, isBesideOthers: true))
        #expect(!asked(one, at: 12 * length - 1))
        #expect(asked(other, at: 12 * length))
        sequence.led(until: 12 * length)
        #expect(asked(other, at: 12 * length + 1))
        #expect(!asked(one, at: 12 * length + RequestSequence.leastPause - 1))
        #expect(asked(one, at: 14 * length) && !sequence.isOfMany)
    }
}
