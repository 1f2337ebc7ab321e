import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog
import Webhooks

@testable import TimerService

/// Tests of webhooks: their places, their ends, and that none is left without one.
struct WebhookTestTests {
    /// The ends of tests, in the order in which they came.
    private let ends = Guarded<[WebhookTestEnd]>([])

    private func test(_ url: String = "http://a.example/", timeoutMs: Int64 = 100) -> WebhookTest {
        let event = WebhookEvent(
            id: "test-1", type: "test", json: Array("{}".utf8), payload: nil, data: [], source: "/", subject: "t",
            timeMs: 0)
        let webhook = WebhookConfiguration(url: url, timeoutMs: timeoutMs).encode()
        return WebhookTest(event: event, webhook: webhook) { [ends] end in ends.withLock { $0.append(end) } }
    }

    /// Begins the tests that wait. Returns the numbers of those that began.
    private func begin(_ tests: WebhookTests, _ queues: inout HostQueues<Int64>) -> [Int64] {
        tests.begin(&queues) { number, test in
            guard let webhook = WebhookConfiguration(test.webhook.span) else { return nil }
            let request = CourierRequest(
                serial: UInt64(bitPattern: number), method: "POST", url: webhook.url, timeoutMs: 1)
            return (WebhookURL.origin(of: webhook.url), request)
        }.map { Int64(bitPattern: $0.serial) }
    }

    private func result(_ number: Int64, status: Int = 0, failure: DeliveryFailure? = nil) -> CourierResult {
        CourierResult(
            serial: UInt64(bitPattern: number), status: status, failure: failure, startedAt: 1_000_000,
            endedAt: 8_900_000)
    }

    @Test func `a test takes a place of its host until it ends`() {
        let tests = WebhookTests()
        var queues = HostQueues<Int64>(perHost: 1, concurrency: 100)
        for _ in 0..<2 { #expect(tests.add(test())) }
        #expect(tests.add(test("http://b.example/")))
        let begun = begin(tests, &queues)
        #expect(begun.count == 2 && begun.allSatisfy { $0 < 0 })
        #expect(ends.value == [.busy])
        #expect(queues.underWay == 2)
        let ended = [result(begun[0], status: 204), result(begun[1], failure: .untrusted)].map {
            tests.end($0, &queues)
        }
        #expect(ended == [true, true])
        #expect(queues.underWay == 0)
        let last: [WebhookTestEnd] = [
            .busy, .answered(status: 204, milliseconds: 7), .failed(.untrusted, milliseconds: 7),
        ]
        #expect(ends.value == last)
        // Each ends once, and the result of a delivery is none of a test.
        let again = [result(begun[0], status: 200), result(1, status: 200)].map { tests.end($0, &queues) }
        #expect(again == [true, false])
        #expect(ends.value == last)
    }

    @Test func `beyond as many as may be a test is refused`() {
        let tests = WebhookTests()
        var queues = HostQueues<Int64>(perHost: 100, concurrency: 10_000)
        for _ in 0..<WebhookTests.most { #expect(tests.add(test())) }
        #expect(!tests.add(test()))
        let begun = begin(tests, &queues)
        #expect(Set(begun).count == WebhookTests.most)
        #expect(!tests.add(test()))
        #expect(ends.value == [.busy, .busy])
        _ = tests.end(result(begun[3], status: 200), &queues)
        #expect(tests.add(test()))
        let next = begin(tests, &queues)
        #expect(next.count == 1 && !begun.contains(next[0]))
    }

    @Test func `a webhook that can't be read is told`() {
        let tests = WebhookTests()
        var queues = HostQueues<Int64>(perHost: 1, concurrency: 10)
        var unreadable = test()
        unreadable.webhook = [0xFF]
        #expect(tests.add(unreadable))
        #expect(begin(tests, &queues) == [])
        #expect(ends.value == [.unreadable])
        #expect(queues.underWay == 0)
    }

    @Test func `a stop ends every test`() {
        let tests = WebhookTests()
        var queues = HostQueues<Int64>(perHost: 8, concurrency: 100)
        #expect(tests.add(test()))
        #expect(begin(tests, &queues).count == 1)
        #expect(tests.add(test()))
        tests.stop()
        #expect(!tests.add(test()))
        #expect(begin(tests, &queues) == [])
        #expect(ends.value == [.stopping, .stopping])
        tests.endAll()
        #expect(ends.value == [.stopping, .stopping, .stopping])
    }

    @Test func `a service sends tests beside deliveries, and none without`() throws {
        let receiver = Receiver { visit in
            visit.answer(500)
            return .keep
        }
        let sending = DeliverySending(version: "0") { event, _, _ in
            WebhookEvent(
                id: "1", type: "fired", json: [], payload: nil, data: [], source: "/", subject: "t", timeMs: event.at)
        }
        let time = ManualTime()
        func service(_ sending: DeliverySending?) throws -> TimerService {
            try TimerService(
                store: MemoryLogStore(), configuration: EngineConfiguration(), alarm: ManualAlarm(time),
                timeSource: time, sending: sending, report: { _ in })
        }
        let (silent, speaking) = (try service(nil), try service(sending))
        silent.start()
        silent.test(test())
        #expect(ends.value == [.stopping])
        speaking.start()
        let head = speaking.engine.turn { $0.head }
        speaking.test(test("\(receiver.base)/hook", timeoutMs: Int64(Patience.milliseconds)))
        speaking.test(test("http://127.0.0.1:\(Receiver.deadPort())/", timeoutMs: Int64(Patience.milliseconds)))
        try eventually("both have ended") { ends.value.count == 3 }
        let told = ends.value.dropFirst().map { end -> String in
            switch end {
            case .answered(let status, let milliseconds): "\(status) \(milliseconds >= 0)"
            case .failed(let failure, _): "\(failure.cause)"
            default: "\(end)"
            }
        }
        #expect(Set(told) == ["500 true", "unreachable"])
        speaking.drain(seconds: 0)
        speaking.test(test("\(receiver.base)/hook"))
        #expect(ends.value.last == .stopping)
        #expect(speaking.engine.turn { $0.head } == head)
        #expect(speaking.snapshotCounters().attempts.allSatisfy { $0 == 0 })
        speaking.stop()
        silent.stop()
        receiver.stop()
        #expect(receiver.requests.count == 1 && receiver.requests[0].contains("webhook-id: test-1"))
    }
}
