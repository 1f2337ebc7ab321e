import Platform
import TimerCore
import TimerLog
import Webhooks

/// The thread that sends deliveries to webhooks: it takes the deliveries that are ready, sends them host by host, and
/// records how each attempt ended.
///
/// Until a delivery is first in the queue of its host it is a number there; then its event is read by its position, its
/// request made and given to the courier. A timer's next delivery is ready once the outcome of the last is on disk.
final class Dispatcher: @unchecked Sendable {
    // Unchecked: `courier` is set once, and what is not in `state` is touched by the dispatcher's thread alone.
    private struct State {
        var arrived: [CourierResult] = []
        var isAwake = false
        /// Whether no further attempt begins, and whether the courier has reported its last result.
        var isStopping = false
        var isOver = false
        var listeners: [AddressPolicy.Listener] = []

        /// Takes what woke the thread; nil when it was not woken.
        mutating func takeIfAwake() -> News? { isAwake ? take() : nil }

        mutating func take() -> News {
            isAwake = false
            var results: [CourierResult] = []
            swap(&results, &arrived)
            return News(results: results, isStopping: isStopping, isOver: isOver)
        }
    }

    /// What other threads have reported to the dispatcher's thread.
    private struct News {
        let results: [CourierResult]
        let isStopping: Bool
        let isOver: Bool
    }

    private let state = Guarded(State())
    private let engine: Engine
    private let report: @Sendable (ServiceEvent) -> Void
    private let sending: DeliverySending
    private let configuration: DeliveryConfiguration
    private var courier: (any WebhookCourier)?
    private let rows: RowSource
    private var bodies: EventBodies
    private var restarts = 0
    private var queues: HostQueues<Int64>
    /// Attempts at the courier, by delivery.
    private var underWay: [Int64: UnderWay] = [:]
    /// Ended attempts whose outcomes are still to be recorded.
    private var ends: [AttemptEnd] = []
    /// Webhooks by their bytes: many timers have the same.
    private var webhooks: [[UInt8]: WebhookConfiguration] = [:]

    private struct UnderWay {
        var place: HostQueues<Int64>.Place
        var attempt: Int
        var retry: RetryPolicy
        /// Of a timer that is gone: see `AttemptEnd`.
        var definition: [UInt8] = []
        var version: Int64 = 0
        var firedAt: Int64?
        var url: String?
    }

    /// Deliveries taken over from the engine, begun or recorded in one hold of its lock.
    private static let step = 128
    /// Pause before outcomes that could not be recorded are tried again, in nanoseconds.
    private static let pause: Int64 = 100_000_000
    /// How often that is tried before a stop gives up.
    private static let settlesAtEnd = 20
    /// Milliseconds until a delivery whose event could not be read is ready again.
    private static let unreadablePause: Int64 = 10_000
    /// Webhooks remembered.
    private static let webhooksKept = 1024

    /// Rows by position: the newest from the hub's memory, older ones from the store.
    private final class RowSource {
        private let hub: EventHub
        private let store: any LogStore
        private var reader: (any LogReader)?

        init(_ hub: EventHub, _ store: any LogStore) {
            self.hub = hub
            self.store = store
        }

        func row(_ position: Int64) throws(StoreError) -> LogRow? {
            if let row = hub.row(holding: position) { return row }
            do throws(StoreError) {
                if reader == nil { reader = try store.makeReader() }
                return try reader?.row(holding: position)
            } catch {
                // The store may have been opened anew.
                reader = nil
                throw error
            }
        }
    }

    /// - Parameter makeCourier: makes what sends in place of `Courier`; it is given what takes the results.
    init(
        _ engine: Engine, _ hub: EventHub, _ store: any LogStore, _ sending: DeliverySending,
        makeCourier: ((_ finished: @escaping @Sendable ([CourierResult]) -> Void) -> any WebhookCourier)? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        self.engine = engine
        self.sending = sending
        self.report = report
        configuration = engine.configuration.deliveries
        rows = RowSource(hub, store)
        bodies = EventBodies(rows.row)
        queues = HostQueues(perHost: configuration.perHost, concurrency: configuration.concurrency)
        var limits = CourierLimits()
        limits.transfers = max(1, configuration.concurrency)
        limits.proxy = configuration.proxy
        let finished: @Sendable ([CourierResult]) -> Void = { [weak self] results in self?.take(results) }
        courier =
            makeCourier?(finished)
            ?? Courier(
                limits: limits, judge: { [weak self] host, address in self?.refusal(host, address) },
                finished: finished)
    }

    /// Notes what the server listens on, where no delivery may go.
    func refuse(_ listeners: [AddressPolicy.Listener]) { state.withLock { $0.listeners = listeners } }

    /// Has the dispatcher's thread look for work. Any thread.
    func wake() { state.update { $0.isAwake = true } }

    private func take(_ results: [CourierResult]) {
        state.update { state in
            state.arrived += results
            state.isAwake = true
        }
    }

    private func refusal(_ host: String, _ address: CourierAddress) -> String? {
        guard let judged = IPAddress(bytes: address.bytes) else { return "no address of the internet" }
        let rules = configuration.policy.value
        let policy = AddressPolicy(
            allow: rules.allow, deny: rules.deny, listeners: state.withLock { $0.listeners },
            isLocal: { LocalAddress.exists($0.bytes) })
        return policy.refusal(of: judged, port: address.port, host: host)?.rawValue
    }

    /// Begins no further attempts and waits up to `seconds` for those under way; what has not ended then is attempted
    /// again by the next process. Not from its own thread.
    func stop(seconds: Double) {
        state.withLock { $0.isStopping = true }
        courier?.stop(deadlineSeconds: seconds)
        state.withLock { $0.isOver = true }
        wake()
    }

    /// Sends until `stop`. The body of its thread.
    func run() {
        courier?.start()
        var settlesLeft = Self.settlesAtEnd
        while true {
            let isOver = step()
            if isOver && (ends.isEmpty || settlesLeft == 0) { return }
            if isOver { settlesLeft -= 1 }
        }
    }

    /// Waits for something to do and does it. Returns whether the courier has reported its last result.
    @discardableResult
    func step() -> Bool {
        let news = wait()
        for result in news.results { end(result, isStopping: news.isStopping) }
        settle()
        // An outcome that can't be recorded now would be sent again: no attempt begins before it is recorded.
        if news.isStopping || !ends.isEmpty { return news.isOver }
        queue()
        begin()
        return news.isOver
    }

    /// Whether a step would not wait.
    var hasWork: Bool { state.withLock { $0.isAwake } }

    /// Waits until the thread is woken, or for a pause where outcomes are still to be recorded.
    private func wait() -> News {
        if ends.isEmpty { return state.wait { $0.takeIfAwake() } }
        return state.wait(nanoseconds: Self.pause) { $0.takeIfAwake() } ?? state.withLock { $0.take() }
    }

    /// Judges how an attempt ended.
    private func end(_ result: CourierResult, isStopping: Bool) {
        let id = Int64(bitPattern: result.serial)
        guard let attempt = underWay.removeValue(forKey: id) else { return }
        queues.finished(attempt.place)
        // An attempt that was given up because of the stop did not fail.
        if isStopping && result.status == 0 { return }
        let ended: AttemptResult
        if result.status > 0 {
            let asked = result.retryAfter.flatMap {
                RetryAfter.milliseconds($0, nowMs: Clocks.realtime() / 1_000_000)
            }
            ended = .answered(status: result.status, retryAfterMs: asked)
        } else {
            ended = .failed(result.failure ?? .interrupted)
        }
        var end = Self.judge(ended, id, attempt.attempt, attempt.retry)
        end.outcome.status = result.status
        end.definition = attempt.definition
        end.version = attempt.version
        end.firedAt = attempt.firedAt
        end.url = attempt.url
        end.command = result.timerCommand.map { ReceiverCommand($0) }
        ends.append(end)
    }

    private static func judge(
        _ result: AttemptResult, _ id: Int64, _ attempt: Int, _ retry: RetryPolicy
    ) -> AttemptEnd {
        let draw = AttemptJudge.draw(id: String(id), attempt: attempt)
        var end = AttemptEnd(outcome: DeliveryOutcome(.deliveryDead, delivery: id, attempt: attempt))
        switch AttemptJudge.outcome(of: result, attempt: attempt, policy: retry, draw: draw) {
        case .delivered: end.outcome.type = .delivered
        case .retry(let milliseconds):
            end.outcome.type = .deliveryFailed
            end.retryAfter = milliseconds
        case .dead: end.outcome.reason = .attempts
        case .stop: end.outcome.reason = .gone
        }
        if case .failed(let failure) = result { end.outcome.failure = failure }
        return end
    }

    /// Records what has ended.
    private func settle() {
        var done = 0
        while done < ends.count {
            let (taken, refused) = engine.settle(ends[done..<min(ends.count, done + Self.step)])
            for (timer, command) in refused {
                report(.receiverCommandRefused(timer: timer, command: command.text))
            }
            if taken == 0 { break }
            done += taken
        }
        ends.removeFirst(done)
    }

    /// Takes the deliveries that are ready over into the queues of their hosts.
    private func queue() {
        var isLast = false
        while !isLast {
            var restarts = 0
            let taken = engine.takeReady(limit: Self.step, isLast: &isLast, restarts: &restarts)
            if restarts != self.restarts {
                self.restarts = restarts
                // Positions may have been given out again, and queued deliveries are ready again.
                bodies = EventBodies(rows.row)
                queues.removeWaiting()
            }
            for ready in taken {
                queues.append(ready.id, host: ready.origin ?? originOfEvent(ready))
            }
        }
    }

    /// Where the delivery of a timer that is gone leads; empty where that can't be read now.
    private func originOfEvent(_ ready: DispatchedDelivery) -> String {
        guard let found = try? bodies.event(ready.id, at: ready.body),
            let webhook = try? webhookLeft(will: ready.will, Array(found.data[found.event.definition]))
        else { return "" }
        return WebhookConfiguration.origin(encoded: webhook.span) ?? ""
    }

    /// The webhook that a deleted timer left, encoded: as it stood at the deletion, or else at the event.
    ///
    /// - Parameter definition: the timer's at the event.
    private func webhookLeft(will: Int64?, _ definition: [UInt8]) throws(StoreError) -> [UInt8]? {
        var definition = definition
        if let will {
            guard let left = try bodies.will(at: will) else {
                throw StoreError(.damaged, "the will at \(will) is not in the log")
            }
            // Two timers may share the numbers by which their lives are known; only one of them has left the will.
            if Definition.haveSameName(left.span, definition.span) { definition = left }
        }
        return Definition.layout(definition.span)?.webhook.map { Array(definition[$0]) }
    }

    /// Begins the attempts that may begin.
    private func begin() {
        while true {
            var places: [Int64: HostQueues<Int64>.Place] = [:]
            while places.count < Self.step, let (id, place) = queues.take() {
                if let twice = places.updateValue(place, forKey: id) { queues.finished(twice) }
            }
            if places.isEmpty { return }
            let attempts = engine.begin(Array(places.keys).sorted())
            var requests: [CourierRequest] = []
            for attempt in attempts {
                guard let place = places.removeValue(forKey: attempt.id) else { continue }
                // The log was folded anew while it was under way: its result still counts.
                guard underWay[attempt.id] == nil else {
                    queues.finished(place)
                    continue
                }
                if let request = request(attempt, place) { requests.append(request) } else { queues.finished(place) }
            }
            for place in places.values { queues.finished(place) }
            courier?.submit(requests)
        }
    }

    /// Reads the event of an attempt and makes its request, which is under way then; nil where it can't be read.
    private func request(_ attempt: DeliveryAttempt, _ place: HostQueues<Int64>.Place) -> CourierRequest? {
        var underWay = UnderWay(place: place, attempt: attempt.number, retry: .standard)
        do throws(StoreError) {
            guard let (event, data) = try bodies.event(attempt.id, at: attempt.body) else {
                throw StoreError(.damaged, "the event of the delivery \(attempt.id) is not in the log")
            }
            let definition = Array(data[event.definition])
            var encoded = attempt.webhook
            if encoded == nil { encoded = try webhookLeft(will: attempt.will, definition) }
            guard let webhook = webhook(encoded) else {
                throw StoreError(.damaged, "the webhook of the delivery \(attempt.id) can't be read")
            }
            underWay.retry = webhook.retry
            if case .event(.fired, _, _) = event.content { underWay.firedAt = event.at }
            if attempt.webhook == nil {
                underWay.definition = definition
                underWay.version = event.progress.version
            }
            let builder = WebhookRequestBuilder(
                version: sending.version, defaultSecrets: configuration.policy.value.secrets)
            let request = builder.request(
                sending.event(event, data), by: webhook, timestamp: Clocks.realtime() / 1_000_000_000)
            underWay.url = request.url
            self.underWay[attempt.id] = underWay
            return CourierRequest(
                serial: UInt64(bitPattern: attempt.id), method: request.method.name, url: request.url,
                headers: request.headers.map { ($0.name, $0.value) }, body: request.body,
                timeoutMs: Int(request.timeoutMs))
        } catch {
            // Nothing was sent, so no attempt is lost; a row may also have been written anew just now.
            report(.deliveryUnreadable(error))
            engine.postpone(attempt.id, milliseconds: Self.unreadablePause)
            return nil
        }
    }

    private func webhook(_ bytes: [UInt8]?) -> WebhookConfiguration? {
        guard let bytes else { return nil }
        if let known = webhooks[bytes] { return known }
        guard let read = WebhookConfiguration(bytes.span) else { return nil }
        if webhooks.count >= Self.webhooksKept { webhooks.removeAll(keepingCapacity: true) }
        webhooks[bytes] = read
        return read
    }
}

extension Dispatcher: Worker {
    var name: String { "deliver" }

    /// Begins no further attempts and waits up to `seconds` for those under way; what has not ended then is attempted
    /// again by the next process.
    func drain(seconds: Double) { stop(seconds: seconds) }

    /// As `drain`, without a wait.
    func stop() { stop(seconds: 0) }
}
