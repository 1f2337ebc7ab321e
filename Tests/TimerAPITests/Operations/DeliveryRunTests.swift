import TestSupport
import Testing
import TimerCore
import WireJSON

@testable import TimerAPI
@testable import TimerLog
@testable import TimerService

/// Deliveries as pages, runs and JSON show them, on a service that sends nothing.
struct DeliveryRunTests {
    private let service: TimerService
    private var engine: Engine { service.engine }

    init() throws {
        service = try TimerService(store: MemoryLogStore(), configuration: EngineConfiguration()) { _ in }
    }

    private func document(_ text: String) throws -> JSONDocument {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        return document
    }

    private func turn<Value>(_ body: (borrowing Turn) throws -> Value) throws -> Value {
        let result = engine.turn { (turn: borrowing Turn) -> Result<Value, any Error> in
            do { return .success(try body(turn)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func settle(_ reading: DeliveryEventReading) throws -> Bool {
        try turn { (turn: borrowing Turn) in reading.recheck(turn) }
    }

    private func details(_ ids: [Int64]) throws -> [DeliveryDetail] {
        try turn { (turn: borrowing Turn) in
            var details: [DeliveryDetail] = []
            for id in ids { if let detail = turn.delivery(id) { details.append(detail) } }
            return details
        }
    }

    /// Makes a timer with a webhook and fires it. Returns the ids of its deliveries.
    private func fired(_ id: String, _ count: Int) throws -> [Int64] {
        let body = try TimerBody(
            try document(#"{"every":"1h","labels":{"a":"b"},"webhook":"https://hooks.example/"}"#), zones: engine.zones)
        // The secret is read under the lock that a turn holds.
        let key = TimerKey(id: Array(id.utf8).span, siphash: engine.siphash)
        var definition = try body.definition(id: Array(id.utf8))
        return try turn { (turn: borrowing Turn) in
            let slot = try turn.create(key, definition: &definition)
            for _ in 0..<count { try turn.apply(.fire, slot, if: .none) }
            return turn.pendingDeliveries(of: slot)
        }
    }

    private func bury(_ ids: [Int64], status: Int = 500, reason: EventReason = .attempts) throws {
        try turn { (turn: borrowing Turn) in
            for id in ids {
                var outcome = DeliveryOutcome(.deliveryDead, delivery: id, attempt: 2)
                outcome.reason = reason
                outcome.status = status
                engine.scheduler.settle(
                    outcome, at: turn.now.wall, position: turn.head, wallOffset: turn.now.wallOffset)
            }
        }
    }

    private func event(_ id: String) throws -> OwedEvent {
        var record = LogRecord(position: 1, at: 1_000, content: .event(.fired, .due, nil))
        let body = try TimerBody(try document(#"{"every":"1h","labels":{"a":"b"}}"#), zones: engine.zones)
        let data = try body.definition(id: Array(id.utf8))
        record.definition = 0..<data.count
        return try #require(OwedEvent(record, data))
    }

    /// The ids of each page of a walk, before the events are read.
    private func walk(_ query: String) throws -> [[Int64]] {
        var pages: [[Int64]] = []
        var cursor = ""
        while pages.count < 100 {
            let run = try DeliveryListRun(
                try Target(Array("/v1/deliveries?\(query)\(cursor)".utf8)), siphash: engine.siphash)
            var page: [Int64]?
            while page == nil {
                switch try turn({ (turn: borrowing Turn) in run.step(turn) }) {
                case .more: break
                case .needsEvents(let reading): page = reading.entries.map(\.detail.id)
                case .done: page = []
                }
            }
            pages.append(page ?? [])
            guard let next = run.next else { return pages }
            cursor = "&cursor=\(next.text)"
        }
        return pages
    }

    @Test func `a walk shows pending and dead ones once each, by their ids`() throws {
        let one = try fired("one", 700)
        let two = try fired("two", 900)
        // Every other delivery of `one` dies, and the first 600 of `two`, so that each state comes first somewhere in
        // the walk.
        let dead = one.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) + two.prefix(600)
        try bury(dead)
        #expect(try walk("limit=1000").flatMap { $0 } == one + two)
        #expect(try walk("limit=77").flatMap { $0 } == one + two)
        #expect(try walk("limit=100&state=dead").map(\.count) == [100, 100, 100, 100, 100, 100, 100, 100, 100, 50])
        #expect(try walk("state=pending&timer=two").flatMap { $0 } == Array(two.dropFirst(600)))
        #expect(try walk("limit=50&timer=one").flatMap { $0 } == one)
        #expect(try walk("timer=three") == [[]])
        #expect(throws: Problem.self) { try walk("label=a") }
    }

    @Test(arguments: ["dead", "pending"]) func `a step looks at a bounded number of deliveries`(_ state: String) throws
    {
        let ids = try fired("one", 200)
        if state == "dead" { try bury(ids) }
        let run = try DeliveryListRun(
            try Target(Array("/v1/deliveries?state=\(state)&limit=1000".utf8)), siphash: engine.siphash)
        var steps = 0
        while case .more = try turn({ (turn: borrowing Turn) in run.step(turn) }) { steps += 1 }
        #expect(steps == ids.count / (APILimits.examinedPerStep / 2))
    }

    @Test func `events are read a piece at a time, in order`() throws {
        let ids = try fired("tea", 300)
        let details = try details(ids)
        let reading = DeliveryEventReading(details)
        let event = try event("tea")
        var pieces: [Int] = []
        while !reading.isRead {
            pieces.append(reading.piece.count)
            reading.take(reading.piece.map { _ in event })
        }
        #expect(pieces == [128, 128, 44])
        #expect(try settle(reading))
        #expect(reading.entries.map(\.detail.id) == ids)
    }

    @Test func `an event that was written anew is looked up again, one that is gone left out`() throws {
        let ids = try fired("tea", 3)
        var details = try details(ids)
        details[1].body -= 1
        details.append(DeliveryDetail(id: 7, body: 7, slot: nil, state: .dead))
        let reading = DeliveryEventReading(details)
        let event = try event("tea")
        reading.take([event, nil, nil, nil])
        #expect(reading.isRead)
        #expect(try !settle(reading))
        // The engine still has the third event's old position, at which there is nothing any more: that event is
        // left out.
        #expect(reading.piece.map(\.id) == [ids[1]] && reading.newest == ids[1])
        reading.take([event])
        #expect(try settle(reading))
        #expect(reading.entries.map(\.detail.id) == [ids[0], ids[1]])
    }

    @Test func `an event that moves on and on is given up`() throws {
        let ids = try fired("tea", 1)
        let reading = DeliveryEventReading(try details(ids))
        var rounds = 0
        repeat {
            rounds += 1
            reading.take([nil])
            let id = ids[0]
            try turn { (_: borrowing Turn) in engine.scheduler.noteCarried(id, at: id + Int64(rounds)) }
        } while try !settle(reading) && rounds < 100
        #expect(rounds == 4 && reading.entries.isEmpty)
    }

    @Test func `a redrive of many ends with the newest event there was`() throws {
        let ids = try fired("tea", 300)
        try bury(ids)
        let run = try BulkRedriveRun(try document(#"{"labels":{"a":"b"}}"#), isDry: false, siphash: engine.siphash)
        let event = try event("tea")
        var pieces: [Int] = []
        while case .needsEvents(let reading) = try turn({ (turn: borrowing Turn) in try run.step(turn) }) {
            pieces.append(reading.piece.count)
            reading.take(reading.piece.map { _ in event })
            if pieces.count == 1 { try bury(try fired("late", 2)) }
        }
        #expect(pieces == [64, 64, 64, 64, 44])
        #expect((run.counts.matched, run.counts.changed, run.counts.skipped) == (300, 300, 0))
    }

    @Test func `a timer is known by its name, not by half of its hash`() throws {
        try bury(try fired("tea", 2))
        let run = try BulkRedriveRun(try document(#"{"timer":"tea"}"#), isDry: false, siphash: engine.siphash)
        let events = [try event("coffee"), try event("tea")]
        while case .needsEvents(let reading) = try turn({ (turn: borrowing Turn) in try run.step(turn) }) {
            reading.take(events)
        }
        #expect((run.counts.matched, run.counts.changed, run.counts.skipped) == (1, 1, 0))
    }

    @Test(arguments: [
        (DeliveryState.pending, #""state":"pending","attempts":2,"nextAttemptAt":null,"diedAt":null,"expiresAt":null"#),
        (.inFlight, #""state":"inFlight","attempts":2,"nextAttemptAt":null,"diedAt":null,"expiresAt":null"#),
        (.waiting, #""state":"waiting","attempts":2,"nextAttemptAt":"1970-01-08T00:00:01.000Z","diedAt":null,"#),
        (
            .dead,
            #""state":"dead","attempts":2,"nextAttemptAt":null,"diedAt":"1970-01-01T00:00:01.000Z","#
                + #""expiresAt":"1970-01-08T00:00:01.000Z","reason":"backlog","lastStatus":null"#
        ),
    ])
    func `a delivery says what its state has to say`(state: DeliveryState, told: String) throws {
        var detail = DeliveryDetail(id: 5, body: 5, slot: nil, state: state)
        detail.attempts = 2
        detail.due = 7 * 86_400_000 + 1_000
        if state == .dead { detail.reason = .backlog }
        var json = JSONWriter()
        DeliveryJSON.write(DeliveryEntry(detail: detail, event: try event("tea")), &json)
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"id":"0000000000000000005","timer":"tea","type":"fired","at":"1970-01-01T00:00:01.000Z","# + told))
        #expect(text.hasSuffix(#""labels":{"a":"b"}}"#))
    }
}
