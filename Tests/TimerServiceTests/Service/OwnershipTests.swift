import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog
import Webhooks

@testable import TimerService

/// A service that takes and drops its log, with all its threads, on manual clocks.
private final class OwningService: Sendable {
    let service: TimerService
    let time = ManualTime()

    init(_ store: any LogStore, sending: DeliverySending? = nil) throws {
        service = try TimerService(
            store: store, place: ManualPlace(), configuration: EngineConfiguration(), alarm: ManualAlarm(time),
            timeSource: time, sending: sending, report: { _ in })
        service.start()
        try service.adopt()
    }

    /// Makes a timer, and waits until that is durable.
    func create(_ id: String, _ rules: TimerRules, webhook: [UInt8] = []) throws {
        let log = try #require(service.log.value)
        let position = try log.create(id, rules, webhook: webhook)
        try eventually("\(id) is durable") { log.engine.fate(of: position) == .durable }
    }

    var fires: Int { service.snapshotCounters().fires.reduce(0, +) }
}

struct OwnershipTests {
    @Test func `the log is dropped and adopted again while it is used, and nothing durable is lost`() throws {
        let store = MemoryLogStore()
        _ = store.beginEpoch(session: 1, after: 0)
        let running = try OwningService(store.seen(by: 1))
        let service = running.service
        let isOver = Guarded(false)
        let made = Guarded<[(id: String, position: Int64)]>([])
        let clients = (0..<2).map { number in
            Background {
                var count = 0
                while !isOver.value {
                    guard let log = service.log.value else { continue }
                    count += 1
                    let id = "n\(number)-\(count)"
                    // The creation is refused while the log is being dropped.
                    guard let position = try? log.create(id) else { continue }
                    try? eventually("its fate is known") { log.engine.fate(of: position) != .pending }
                    guard log.engine.fate(of: position) == .durable else { continue }
                    made.withLock { $0.append((id, position)) }
                }
            }
        }
        for _ in 0..<10 {
            let sofar = made.value.count
            try eventually("clients go on") { made.value.count > sofar + 20 }
            service.drop()
            #expect(service.log.value == nil)
            let barrier = store.beginEpoch(session: 1, after: 0)
            #expect(made.value.allSatisfy { $0.position < barrier.position })
            #expect(try service.adopt() != nil)
        }
        isOver.withLock { $0 = true }
        for client in clients { try client.finish("a client ends") }
        let log = try #require(service.log.value)
        for (id, _) in made.value { #expect(log.has(id), "\(id) is there") }
        service.stop()
    }

    @Test func `an adopted log fires, and a dropped one fires no more`() throws {
        let running = try OwningService(MemoryLogStore())
        try running.create("tick", TimerRules(.every(1000, first: .period)))
        let old = try #require(running.service.log.value)
        running.service.drop()
        running.time.pass(milliseconds: 10_000)
        try running.service.adopt()
        #expect(try #require(running.service.log.value).has("tick"))
        try eventually("it fires") { running.fires == 1 }
        running.time.pass(milliseconds: 1000)
        try eventually("it fires again") { running.fires == 2 }
        #expect(old.engine.snapshotCounters().fires.reduce(0, +) == 0)
        running.service.stop()
    }

    @Test func `a read that hangs holds no drop up`() throws {
        let gate = GatedLogStore(MemoryLogStore())
        let running = try OwningService(gate)
        let log = try #require(running.service.log.value)
        gate.shutReads()
        let read = Background {
            let isRead = log.whileOpen { (try? gate.makeReader().read(from: 0) { _ in true }) != nil }
            #expect(isRead == false)
        }
        try eventually("the read hangs") { gate.isHoldingRead }
        try Background { running.service.drop() }.finish("the drop")
        try read.finish("the read")
        running.service.stop()
    }

    @Test func `a dropped log leaves memory`() throws {
        let sending = DeliverySending(version: "0") { event, _, _ in
            WebhookEvent(
                id: "", type: "fired", json: [], payload: nil, data: [], source: "/", subject: "t", timeMs: event.at)
        }
        let running = try OwningService(MemoryLogStore(), sending: sending)
        try running.create("tick", TimerRules(.every(1000, first: .period)))
        running.time.pass(milliseconds: 1000)
        try eventually("it fires") { running.fires == 1 }
        let answers = Guarded(0)
        for _ in 0..<4 { running.service.replayer.rows(after: 0) { _ in answers.withLock { $0 += 1 } } }
        try eventually("rows are read") { answers.value == 4 }
        weak let dropped = running.service.log.value
        #expect(dropped != nil)
        running.service.drop()
        try eventually("it is freed") { dropped == nil }
        running.service.stop()
    }

    @Test func `deliveries go on once the log is back`() throws {
        let receiver = Receiver { visit in
            visit.answer(200)
            return .keep
        }
        let sending = DeliverySending(version: "0") { event, data, _ in
            WebhookEvent(
                id: String(event.position), type: "fired", json: [], payload: nil, data: [], source: "/", subject: "t",
                timeMs: event.at)
        }
        let running = try OwningService(MemoryLogStore(), sending: sending)
        var rules = TimerRules(.every(1000, first: .period))
        rules.deliveries = EventTypes(.fired)
        try running.create("a", rules, webhook: WebhookConfiguration(url: "\(receiver.base)/a").encode())
        // Time passes meanwhile: an attempt that fails on a busy machine is made again after a while.
        let awaitDelivery = {
            try eventually("it is delivered") {
                running.time.pass(milliseconds: 1)
                let attempts = running.service.snapshotCounters().attempts
                return attempts[EngineCounters.AttemptKind.delivered.rawValue] >= 1
            }
        }
        running.time.pass(milliseconds: 1000)
        try awaitDelivery()
        for _ in 0..<3 {
            running.service.drop()
            running.time.pass(milliseconds: 1000)
            try running.service.adopt()
            // A delivery whose outcome was not durable is sent again.
            try awaitDelivery()
        }
        running.service.drain(seconds: 0)
        running.service.stop()
        receiver.stop()
    }
}
