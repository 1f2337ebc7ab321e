import Platform
public import TimerCore
public import Webhooks

/// A test of a webhook: one attempt, of which nothing is recorded.
public struct WebhookTest: Sendable {
    /// The event that is sent; its type and id are no event's of the log.
    public var event: WebhookEvent
    /// The webhook, encoded.
    public var webhook: [UInt8]
    /// Takes the end of the test, once; called on any thread.
    public var ended: @Sendable (WebhookTestEnd) -> Void

    /// Makes a test; see the members.
    public init(event: WebhookEvent, webhook: [UInt8], ended: @escaping @Sendable (WebhookTestEnd) -> Void) {
        self.event = event
        self.webhook = webhook
        self.ended = ended
    }
}

/// The end of a test of a webhook.
public enum WebhookTestEnd: Sendable, Equatable {
    /// The receiver answered with a status, after so many milliseconds.
    case answered(status: Int, milliseconds: Int64)
    /// No answer came, for so many milliseconds.
    case failed(DeliveryFailure, milliseconds: Int64)
    /// The test was not sent: as many are under way as may be, or as many requests to the webhook's host.
    case busy
    /// The test was not sent, or may not have been: the service stops.
    case stopping
    /// The test was not sent: the webhook can't be read.
    case unreadable
}

/// The tests of webhooks that wait for the dispatcher's thread, and those under way.
///
/// A test takes a place of its host besides the deliveries, before those that wait. Tests that find none are refused,
/// so that no client waits in a queue.
final class WebhookTests: Sendable {
    /// The most tests that wait or are under way at once.
    static let most = 16

    private struct State: Sendable {
        var waiting: [WebhookTest] = []
        /// Tests that the courier makes, by their numbers.
        var underWay: [Int64: (test: WebhookTest, place: HostQueues<Int64>.Place)] = [:]
        var isStopping = false
        /// The number of the newest test. The numbers of tests are negative: those of deliveries are positions.
        var newest: Int64 = 0
    }

    private let state = Guarded(State())

    /// Adds a test. Returns false where it is refused, and has ended. May be called on any thread.
    func add(_ test: WebhookTest) -> Bool {
        let refusal: WebhookTestEnd? = state.withLock { state in
            if state.isStopping { return .stopping }
            guard state.waiting.count + state.underWay.count < Self.most else { return .busy }
            state.waiting.append(test)
            return nil
        }
        if let refusal { test.ended(refusal) }
        return refusal == nil
    }

    /// Takes no further tests. May be called on any thread.
    func stop() { state.withLock { $0.isStopping = true } }

    /// Begins the tests that wait, each if its host has room; after `stop` they end instead.
    ///
    /// - Parameters:
    ///   - queues: give each test the place that it takes until `end`.
    ///   - request: makes the request of a test with its number, and returns it with its webhook's origin; nil where
    ///     the webhook can't be read.
    /// - Returns: the requests.
    func begin(
        _ queues: inout HostQueues<Int64>,
        request: (_ number: Int64, WebhookTest) -> (origin: String, request: CourierRequest)?
    ) -> [CourierRequest] {
        let (waiting, isStopping, newest) = state.withLock { state in
            let waiting = state.waiting
            state.newest -= Int64(waiting.count)
            state.waiting = []
            return (waiting, state.isStopping, state.newest)
        }
        var requests: [CourierRequest] = []
        for (index, test) in waiting.enumerated() {
            let number = newest + Int64(index)
            guard !isStopping else {
                test.ended(.stopping)
                continue
            }
            guard let made = request(number, test) else {
                test.ended(.unreadable)
                continue
            }
            guard let place = queues.takePlace(host: made.origin) else {
                test.ended(.busy)
                continue
            }
            state.withLock { $0.underWay[number] = (test, place) }
            requests.append(made.request)
        }
        return requests
    }

    /// Ends the test that `result` belongs to. Returns false where it belongs to a delivery.
    func end(_ result: CourierResult, _ queues: inout HostQueues<Int64>) -> Bool {
        let number = Int64(bitPattern: result.serial)
        guard number < 0 else { return false }
        guard let (test, place) = state.withLock({ $0.underWay.removeValue(forKey: number) }) else { return true }
        queues.finished(place)
        let milliseconds = (result.endedAt - result.startedAt) / 1_000_000
        if result.status > 0 {
            test.ended(.answered(status: result.status, milliseconds: milliseconds))
        } else {
            test.ended(.failed(result.failure ?? .interrupted, milliseconds: milliseconds))
        }
        return true
    }

    /// Ends every test under way, as no further result comes.
    func endAll() {
        let left = state.withLock { state in
            defer { state.underWay = [:] }
            return state.underWay.values.map(\.test)
        }
        for test in left { test.ended(.stopping) }
    }
}
