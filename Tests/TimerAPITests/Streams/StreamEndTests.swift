import Platform
import TestSupport
import Testing
import TimerAPI
import TimerCore
import TimerLog

@testable import TimerService

/// The end of a stream, as its timer sees it.
struct StreamEndTests {
    @Test func `a timer that runs for its subscribers is suspended after its last stream has ended`() throws {
        let server = try WholeServer()
        let body = #"{"after":"1h","start":"subscriber","stop":"subscriber"}"#
        try #require(try server.ask("PUT", "/v1/timers/held", body).status == 201)
        let client = RawClient(port: try server.port)
        client.send("GET /v1/timers/held/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try #require(client.head()?.status == 200)
        #expect(try server.ask("GET", "/v1/timers/held")["state"] == "running")
        client.reset()
        try eventually("the timer is suspended") {
            server.time.pass(milliseconds: 1000)
            return try server.ask("GET", "/v1/timers/held")["state"] == "suspended"
        }
    }

    @Test func `a drain ends the waits that are open, and none that begins later`() throws {
        let server = try WholeServer { $0.ioThreads = 1 }
        try server.make("t", in: .running)
        let open = try wait(server, "10m")
        #expect(try server.ask("POST", "/v1/drain").status == 200)
        #expect(open.answer()?.status == 204)
        let later = try wait(server, "10m")
        // Compaction records a drain again.
        let engine = server.service.engine
        engine.turn { (_: borrowing Turn) in engine.carryMove() }
        #expect(try server.ask("DELETE", "/v1/drain").status == 200)
        try server.command("t", "fire")
        #expect(later.answer()?["type"] == "fired")
    }

    @Test func `a fire that was decided before a drain still answers its wait`() throws {
        let store = HeldStore()
        let server = try WholeServer(store) { $0.ioThreads = 1 }
        try server.make("t", in: .running)
        let open = try wait(server, "10m")
        // It ends after more than a tick of the loop.
        let other = try wait(server, "1100ms")
        let port = try server.port
        let targets = ["/v1/timers/t/fire", "/v1/drain"]
        let asking = targets.map { _ in RawClient(port: port) }
        store.hold()
        for (client, target) in zip(asking, targets) {
            client.send("POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            // Two requests that are read in one round have no order.
            try eventually("\(target) is carried out") {
                server.service.isDrained || target != "/v1/drain" && store.isWaitedFor
            }
        }
        #expect(other.answer()?.status == 204)
        store.letGo()
        #expect(open.answer()?["type"] == "fired")
        for client in asking { #expect(client.answer()?.status == 200) }
    }

    /// Begins a wait, which the loop has read once it answers a request that came later.
    private func wait(_ server: WholeServer, _ timeout: String) throws -> RawClient {
        let client = RawClient(port: try server.port)
        client.send("GET /v1/timers/t/wait?timeout=\(timeout) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try server.timer("t")
        return client
    }

    /// A log in memory whose appends wait while it is held.
    private final class HeldStore: LogStore {
        private let inner = MemoryLogStore()
        private let state = Guarded((isHeld: false, waiting: 0))

        func hold() { state.update { $0.isHeld = true } }
        func letGo() { state.update { $0.isHeld = false } }
        /// Whether an append waits.
        var isWaitedFor: Bool { state.withLock { $0.waiting > 0 } }

        func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
            state.update { $0.waiting += 1 }
            state.wait { $0.isHeld ? nil : () }
            state.update { $0.waiting -= 1 }
            return inner.append(rows, expecting: expecting, epoch: epoch)
        }
        func open() throws(StoreError) -> StoreHead { try inner.open() }
        func delete(upTo position: Int64) throws(StoreError) -> Int { try inner.delete(upTo: position) }
        func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }
        func makeReader() throws(StoreError) -> any LogReader { try inner.makeReader() }
        func bytesOnDisk() -> Int { inner.bytesOnDisk() }
        func close() { inner.close() }
    }
}
