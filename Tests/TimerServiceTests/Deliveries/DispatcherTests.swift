import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog
import Webhooks

@testable import TimerService

/// A whole service that delivers to a receiver on this machine. Its alarm does not ring by itself: timers fire by hand.
private final class DeliveringService: Sendable {
    let service: TimerService
    private let time = ManualTime()

    init(_ store: any LogStore, _ edit: (inout DeliveryConfiguration) -> Void = { _ in }) throws {
        var configuration = EngineConfiguration()
        edit(&configuration.deliveries)
        let sending = DeliverySending(version: "0") { event, data, _ in
            WebhookEvent(
                id: String(event.position), type: "fired", json: [], payload: nil, data: [], source: "/", subject: "t",
                timeMs: event.at)
        }
        service = try TimerService(
            store: store, configuration: configuration, alarm: ManualAlarm(time), timeSource: time, sending: sending,
            report: { _ in })
        service.start()
    }

    func key(_ id: String) -> TimerKey { TimerKey(id: Array(id.utf8).span, siphash: service.engine.siphash) }

    func create(_ id: String, url: String, maxAgeMs: Int64? = nil, giveUpOn: FinalStatuses = FinalStatuses()) throws {
        var rules = TimerRules(.every(1_000_000_000, first: .period))
        rules.deliveries = EventTypes(.fired)
        let retry = RetryPolicy(
            maxAgeMs: maxAgeMs, giveUpOn: giveUpOn, initialMs: 86_400_000, maxMs: 86_400_000)
        let webhook = WebhookConfiguration(url: url, timeoutMs: Int64(Patience.milliseconds), retry: retry)
        var bytes = definition(id, rules, webhook: webhook.encode())
        let key = key(id)
        try service.engine.turn { (turn: borrowing Turn) -> Result<Void, ServiceError> in
            do throws(ServiceError) { _ = try turn.create(key, definition: &bytes) } catch { return .failure(error) }
            return .success(())
        }.get()
    }

    func fire(_ id: String) throws {
        let key = key(id)
        try service.engine.turn { (turn: borrowing Turn) -> Result<Void, ServiceError> in
            do throws(ServiceError) { _ = try turn.apply(.fire, key, if: .none) } catch { return .failure(error) }
            return .success(())
        }.get()
    }

    func attempts(_ kind: EngineCounters.AttemptKind) -> Int {
        service.engine.snapshotCounters().attempts[kind.rawValue]
    }

    /// Passes time and fires the timers that are due then.
    func pass(milliseconds: Int64) {
        time.pass(milliseconds: milliseconds)
        while case .more = service.engine.fire() {}
    }

    var dead: Int { service.engine.snapshotCounters().events[Int(EventType.deliveryDead.rawValue)] }

    var pending: Int { service.engine.snapshotCounters().pendingDeliveries }

    func stop(deliverySeconds: Double = 0) {
        service.drain(seconds: deliverySeconds)
        service.stop()
    }
}

struct DispatcherTests {
    /// The `webhook-id` of requests, in the order in which they came.
    private func ids(_ requests: [String], path: String) -> [String] {
        requests.filter { $0.contains(" \(path) ") }.compactMap { request in
            request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("webhook-id: ") }
                .map { String($0.dropFirst("webhook-id: ".count)) }
        }
    }

    /// A receiver that takes everything.
    private static func taking() -> Receiver {
        Receiver { visit in
            visit.answer(200)
            return .keep
        }
    }

    /// A receiver that opens `begun` at each request, and takes it once `end` lets it pass.
    private static func waiting(for end: Gate, _ begun: Gate) -> Receiver {
        Receiver { visit in
            begun.open(1)
            end.pass()
            visit.answer(200)
            return .keep
        }
    }

    @Test func `many timers' events arrive, each timer's in their order`() throws {
        let receiver = Self.taking()
        let delivering = try DeliveringService(MemoryLogStore())
        for timer in 0..<20 { try delivering.create("t\(timer)", url: "\(receiver.base)/t\(timer)") }
        for _ in 0..<10 { for timer in 0..<20 { try delivering.fire("t\(timer)") } }
        try eventually("all is delivered") { delivering.attempts(.delivered) == 200 }
        #expect(delivering.pending == 0)
        delivering.stop()
        receiver.stop()
        for timer in 0..<20 {
            let ids = ids(receiver.requests, path: "/t\(timer)")
            #expect(ids.count == 10)
            #expect(ids == ids.sorted())
        }
    }

    @Test func `one that grows too old is dead without an attempt, and the next gets its turn`() throws {
        let receiver = Receiver { visit in
            visit.answer(500)
            return .keep
        }
        let delivering = try DeliveringService(MemoryLogStore())
        try delivering.create("t", url: "\(receiver.base)/t", maxAgeMs: 60_000)
        try delivering.fire("t")
        try eventually("the first one's attempt failed") { delivering.attempts(.failed) == 1 }
        delivering.pass(milliseconds: 30_000)
        try delivering.fire("t")
        delivering.pass(milliseconds: 31_000)
        try eventually("the second one's attempt failed") { delivering.attempts(.failed) == 2 }
        #expect((delivering.dead, delivering.pending, delivering.attempts(.dead)) == (1, 1, 0))
        delivering.stop()
        receiver.stop()
        let ids = ids(receiver.requests, path: "/t")
        #expect(ids.count == 2 && ids[0] < ids[1])
    }

    @Test func `a refusal for good holds back no other`() throws {
        let receiver = Receiver { visit in
            visit.answer(400)
            return .keep
        }
        let delivering = try DeliveringService(MemoryLogStore())
        try delivering.create("t", url: "\(receiver.base)/t", giveUpOn: FinalStatuses([.clientErrors]))
        for _ in 0..<3 { try delivering.fire("t") }
        try eventually("all are dead") { delivering.dead == 3 }
        #expect((delivering.pending, delivering.attempts(.failed), delivering.attempts(.dead)) == (0, 0, 3))
        delivering.stop()
        receiver.stop()
        #expect(ids(receiver.requests, path: "/t").count == 3)
    }

    @Test func `what a stop cuts off is delivered by the next service`() throws {
        let gate = Gate()
        let isHeld = Guarded(true)
        let receiver = Receiver { visit in
            if isHeld.value {
                gate.open(1)
                visit.waitForEnd()
                return .close
            }
            visit.answer(200)
            return .keep
        }
        let store = MemoryLogStore()
        let first = try DeliveringService(store)
        try first.create("t", url: "\(receiver.base)/t")
        for _ in 0..<3 { try first.fire("t") }
        gate.pass()
        first.stop()
        #expect(first.attempts(.failed) == 0)
        isHeld.withLock { $0 = false }
        let second = try DeliveringService(store)
        try eventually("all is delivered") { second.attempts(.delivered) == 3 }
        second.stop()
        receiver.stop()
        let ids = ids(receiver.requests, path: "/t")
        #expect(ids.count == 4)
        #expect(ids[0] == ids[1])
        #expect(ids == ids.sorted())
    }

    @Test func `a stop waits for an attempt that is under way`() throws {
        let begun = Gate()
        let end = Gate()
        let receiver = Self.waiting(for: end, begun)
        let delivering = try DeliveringService(MemoryLogStore())
        try delivering.create("t", url: "\(receiver.base)/t")
        try delivering.fire("t")
        begun.pass()
        let stopping = Background { delivering.stop(deliverySeconds: 60) }
        end.open(1)
        try stopping.finish("the stop has ended")
        receiver.stop()
        #expect(delivering.attempts(.delivered) == 1)
    }

    @Test func `the deliveries of a dead host wait, and others' go`() throws {
        let receiver = Self.taking()
        let delivering = try DeliveringService(MemoryLogStore()) { $0.perHost = 2 }
        try delivering.create("dead", url: "http://127.0.0.1:\(Receiver.deadPort())/")
        try delivering.create("well", url: "\(receiver.base)/")
        for _ in 0..<5 {
            try delivering.fire("dead")
            try delivering.fire("well")
        }
        try eventually("what can be delivered is") { delivering.attempts(.delivered) == 5 }
        try eventually("the rest failed once") { delivering.attempts(.failed) == 1 }
        #expect(delivering.pending == 5)
        delivering.stop()
        receiver.stop()
    }

    @Test func `what came about as the disk failed is delivered once it works`() throws {
        let receiver = Self.taking()
        let store = FaultyLogStore()
        let delivering = try DeliveringService(store)
        try delivering.create("t", url: "\(receiver.base)/t")
        try eventually("it is on disk") {
            delivering.service.engine.durableHead == delivering.service.engine.turn { $0.head }
        }
        // The fire is stored, as the log shows when it is opened again; then the log takes no writes for a while.
        store.plan(.unknownButWritten, .absent, .absent)
        try delivering.fire("t")
        try eventually("the fire is delivered") { delivering.attempts(.delivered) == 1 }
        delivering.stop()
        receiver.stop()
        #expect(ids(receiver.requests, path: "/t").count == 1)
    }

    @Test func `an attempt that ends while the disk fails counts, and is made once`() throws {
        let begun = Gate()
        let end = Gate()
        let receiver = Self.waiting(for: end, begun)
        let store = FaultyLogStore()
        let delivering = try DeliveringService(store)
        try delivering.create("t", url: "\(receiver.base)/t")
        try delivering.fire("t")
        begun.pass()
        let appends = store.appendCount
        store.plan(.absent, .absent, .absent)
        try delivering.create("more", url: "\(receiver.base)/more")
        try eventually("the disk is asked") { store.appendCount > appends }
        end.open(1)
        try eventually("the disk works") { delivering.service.isWritable }
        try eventually("the fire is delivered") { delivering.attempts(.delivered) == 1 }
        delivering.stop()
        receiver.stop()
        #expect(ids(receiver.requests, path: "/t").count == 1)
    }

    @Test func `a stop in the midst of it all loses nothing`() throws {
        let receiver = Self.taking()
        let store = MemoryLogStore()
        let first = try DeliveringService(store)
        for timer in 0..<10 { try first.create("t\(timer)", url: "\(receiver.base)/t\(timer)") }
        for _ in 0..<100 { for timer in 0..<10 { try first.fire("t\(timer)") } }
        try eventually("some are delivered") { first.attempts(.delivered) > 100 }
        first.stop(deliverySeconds: 60)
        #expect(first.attempts(.failed) == 0)
        let second = try DeliveringService(store)
        try eventually("all is delivered") { second.pending == 0 }
        second.stop()
        receiver.stop()
        for timer in 0..<10 {
            let ids = ids(receiver.requests, path: "/t\(timer)")
            #expect(ids.count == 100)
            #expect(ids == ids.sorted())
        }
    }

    @Test func `a service that is stopped without a delivery stops at once`() throws {
        let delivering = try DeliveringService(MemoryLogStore())
        delivering.stop(deliverySeconds: 60)
    }
}
