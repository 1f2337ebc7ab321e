import Platform
import TimerCore
import TimerLog
import Webhooks

/// The thread that sends deliveries to webhooks: it takes those that are ready, sends them host by host, and
/// records how each attempt ended.
///
/// A delivery waits in the queue of its host as a number. Once it is first there, its event is read by its
/// position, and its request is made and given to the courier. A timer's next delivery is ready once the outcome of
/// the last is on disk. While outcomes can't be recorded, deliveries wait.
final class Dispatcher: @unchecked Sendable {
    // Unchecked: `courier` is set once, and what is not in `state` is touched by the dispatcher's thread alone.
    private struct State {
        var arrived: [CourierResult] = []
        var isAwake = false
        /// Whether there may be deliveries that are ready.
        var isReady = false
        /// Whether no further attempt begins, and whether the courier has reported its last result.
        var isStopping = false
        var isOver = false
        var listeners: [AddressPolicy.Listener] = []

        /// Takes the news that woke the thread; nil when it was not woken.
        mutating func takeIfAwake() -> News? { isAwake ? take() : nil }

        mutating func take() -> News {
            isAwake = false
            var results: [CourierResult] = []
            swap(&results, &arrived)
            defer { isReady = false }
            return News(results: results, isReady: isReady, isStopping: isStopping, isOver: isOver)
        }
    }

    /// The reports of other threads to the dispatcher's thread.
    private struct News {
        let results: [CourierResult]
        let isReady: Bool
        let isStopping: Bool
        let isOver: Bool
    }

    private let state = Guarded(State())
    private let tests = WebhookTests()
    private var owned: Published<ActiveLog?>.Copy
    private let report: @Sendable (ServiceEvent) -> Void
    private let sending: DeliverySending
    private let configuration: DeliveryConfiguration
    private var courier: (any WebhookCourier)?
    /// The log; nil while this process owns none.
    private var source: DeliverySource?
    /// Whether the engine is still to be asked for ready deliveries.
    private var isReady = false
    private var queues: HostQueues<Int64>
    /// Attempts that the courier makes, by delivery.
    private var underWay: [Int64: UnderWay] = [:]
    private var webhooks = WebhookCache()
    private let keys = SigningKeys()

    private struct UnderWay {
        var place: HostQueues<Int64>.Place
        var attempt: Int
        var retry: RetryPolicy
        /// The definition and version of a deleted timer: see `AttemptEnd`.
        var definition: [UInt8] = []
        var version: Int64 = 0
        var firedAt: Int64?
        var url: String?
        var expiresAt: Int64?
    }

    /// The most deliveries that are taken over, begun or recorded in one hold of the engine's lock.
    private static let step = 128
    /// The pause before work that failed (outcomes not recorded, attempts not begun) is tried again, in nanoseconds.
    private static let pause: Int64 = 100_000_000
    /// The most steps in which a stop still tries to record outcomes.
    private static let settlesAtEnd = 20
    /// Milliseconds until a delivery whose event could not be read is ready again.
    private static let unreadablePause: Int64 = 10_000

    /// - Parameter makeCourier: makes the sender that replaces `Courier`, given the function that takes its results.
    init(
        _ log: Published<ActiveLog?>, _ configuration: DeliveryConfiguration, _ sending: DeliverySending,
        makeCourier: ((_ finished: @escaping @Sendable ([CourierResult]) -> Void) -> any WebhookCourier)? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        owned = Published.Copy(log)
        source = owned.value.map(DeliverySource.init)
        self.sending = sending
        self.report = report
        self.configuration = configuration
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

    /// Notes the server's own listeners, to which no delivery may go.
    func refuse(_ listeners: [AddressPolicy.Listener]) { state.withLock { $0.listeners = listeners } }

    /// Watches for ready deliveries of `log`. Called before anything changes in the log.
    func watch(_ log: ActiveLog) {
        log.engine.observeReadyDeliveries { [weak self] in self?.noteReady() }
        log.hub.observe { [weak engine = log.engine] in engine?.ringDeliveries() }
    }

    /// Wakes the dispatcher's thread to look for ready deliveries. May be called on any thread.
    private func noteReady() {
        state.update { state in
            state.isReady = true
            state.isAwake = true
        }
    }

    /// Sends a test to a webhook, or refuses it. May be called on any thread.
    func test(_ test: WebhookTest) { if tests.add(test) { wake() } }

    /// Wakes the dispatcher's thread to look for work. May be called on any thread.
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

    /// Begins no further attempts and waits up to `seconds` for those under way; an attempt that has not ended by
    /// then is made again by the next process. Not called on the dispatcher's thread.
    func stop(seconds: Double) {
        state.withLock { $0.isStopping = true }
        tests.stop()
        courier?.stop(deadlineSeconds: seconds)
        state.withLock { $0.isOver = true }
        wake()
    }

    /// Sends deliveries until `stop`. The body of the dispatcher's thread.
    func run() {
        courier?.start()
        var settlesLeft = Self.settlesAtEnd
        while true {
            let isOver = step()
            if isOver && (!hasEnds || settlesLeft == 0) { return }
            if isOver { settlesLeft -= 1 }
        }
    }

    /// Waits for work and does one round of it. Returns whether the courier has reported its last result.
    @discardableResult
    func step() -> Bool {
        let news = wait()
        refresh()
        isReady = isReady || news.isReady
        for result in news.results where !tests.end(result, &queues) { end(result, isStopping: news.isStopping) }
        beginTests()
        if news.isOver { tests.endAll() }
        settle()
        if news.isStopping { return news.isOver }
        release()
        queue()
        begin()
        if hasEnds { settleAged() }
        return news.isOver
    }

    /// Switches to the log that is active now, and drops what belongs to the previous one.
    private func refresh() {
        guard owned.refresh(), owned.value !== source?.log else { return }
        source = owned.value.map(DeliverySource.init)
        queues.removeWaiting()
    }

    /// Whether outcomes are still to be recorded.
    private var hasEnds: Bool { !(source?.ends.isEmpty ?? true) }

    /// Whether a step would not wait.
    var hasWork: Bool { state.withLock { $0.isAwake } }

    /// Waits until the thread is woken, or for a pause where work is to be tried again.
    private func wait() -> News {
        if !(source?.isWaiting ?? false) { return state.wait { $0.takeIfAwake() } }
        return state.wait(nanoseconds: Self.pause) { $0.takeIfAwake() } ?? state.withLock { $0.take() }
    }

    /// Judges how an attempt ended.
    private func end(_ result: CourierResult, isStopping: Bool) {
        let id = Int64(bitPattern: result.serial)
        guard let attempt = underWay.removeValue(forKey: id) else { return }
        queues.finished(attempt.place)
        // An attempt that the stop aborted did not fail.
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
        var end = AttemptEnd(ended, delivery: id, attempt: attempt.attempt, attempt.retry)
        end.outcome.status = result.status
        end.definition = attempt.definition
        end.version = attempt.version
        end.firedAt = attempt.firedAt
        end.url = attempt.url
        end.expiresAt = attempt.expiresAt
        end.command = result.timerCommand.map { ReceiverCommand($0) }
        source?.ends.append(end)
    }

    /// Records the ends of attempts.
    private func settle() {
        guard let source, !source.ends.isEmpty else { return }
        var done = 0
        while done < source.ends.count {
            let step = source.ends[done..<min(source.ends.count, done + Self.step)]
            let (taken, refused) = source.log.engine.settle(step)
            for (timer, command) in refused {
                report(.receiverCommandRefused(timer: timer, command: command.text))
            }
            if taken == 0 { break }
            done += taken
        }
        source.ends.removeFirst(done)
    }

    /// Records the ends of deliveries that were too old when they came up: no other attempt begins before.
    private func settleAged() {
        settle()
        if !hasEnds { wake() }
    }

    /// Queues again the deliveries that were put aside, once attempts may begin.
    private func release() {
        guard let source, source.isHeld || !source.putAside.isEmpty else { return }
        source.isHeld = source.isHeld && !source.log.engine.mayBeginDeliveries
        if source.isBlocked { return }
        for (id, host) in source.putAside { queues.append(id, host: host) }
        source.putAside = []
    }

    /// Moves the ready deliveries into the queues of their hosts.
    private func queue() {
        guard isReady, let source, !source.isBlocked else { return }
        var isLast = false
        while !isLast {
            var restarts = 0
            let taken = source.log.engine.takeReady(limit: Self.step, isLast: &isLast, restarts: &restarts)
            if source.note(restarts: restarts) { queues.removeWaiting() }
            for ready in taken { queues.append(ready.id, host: ready.origin ?? source.originOfDeleted(ready)) }
        }
        isReady = false
    }

    /// Begins the tests that have come.
    private func beginTests() {
        let requests = tests.begin(&queues) { number, test in
            guard let webhook = webhooks.webhook(test.webhook) else { return nil }
            return (WebhookURL.origin(of: webhook.url), request(number, test.event, by: webhook))
        }
        if !requests.isEmpty { courier?.submit(requests) }
    }

    /// Returns the request of one attempt with the number `serial`.
    private func request(_ serial: Int64, _ event: WebhookEvent, by webhook: WebhookConfiguration) -> CourierRequest {
        let builder = WebhookRequestBuilder(
            version: sending.version, defaultSecrets: configuration.policy.value.secrets, keys: keys)
        let request = builder.request(event, by: webhook, timestamp: Clocks.realtime() / 1_000_000_000)
        return CourierRequest(
            serial: UInt64(bitPattern: serial), method: request.method.name.description, url: request.url,
            headers: request.headers.map { ($0.name, $0.value) }, body: request.body, timeoutMs: Int(request.timeoutMs))
    }

    /// Begins the attempts that may begin.
    private func begin() {
        while let source, !source.isBlocked {
            var places: [Int64: HostQueues<Int64>.Place] = [:]
            while places.count < Self.step, let (id, place) = queues.take() {
                if let twice = places.updateValue(place, forKey: id) { queues.finished(twice) }
            }
            if places.isEmpty { return }
            let requests = begin(places.keys.sorted(), source, &places)
            for place in places.values { queues.finished(place) }
            courier?.submit(requests)
        }
    }

    /// Begins the attempts at the deliveries `ids` and returns their requests; the places of those that did not
    /// begin remain in `places`.
    private func begin(
        _ ids: [Int64], _ source: DeliverySource, _ places: inout [Int64: HostQueues<Int64>.Place]
    ) -> [CourierRequest] {
        guard let attempts = source.log.engine.begin(ids) else {
            source.isHeld = true
            for id in ids {
                if let place = places[id] { source.putAside.append((id, queues.host(of: place))) }
            }
            return []
        }
        var requests: [CourierRequest] = []
        for attempt in attempts {
            guard let place = places.removeValue(forKey: attempt.id) else { continue }
            // The log was folded again while the attempt was under way: its result still counts.
            guard underWay[attempt.id] == nil else {
                queues.finished(place)
                continue
            }
            if let request = request(attempt, source, place) {
                requests.append(request)
            } else {
                queues.finished(place)
            }
        }
        return requests
    }

    /// Reads the event of an attempt and makes its request, which is under way from then on; nil where the event
    /// can't be read, or the delivery is too old to be sent.
    private func request(
        _ attempt: DeliveryAttempt, _ source: DeliverySource, _ place: HostQueues<Int64>.Place
    ) -> CourierRequest? {
        var underWay = UnderWay(place: place, attempt: attempt.number, retry: .standard)
        do throws(StoreError) {
            guard let (event, data) = try source.event(attempt.id, at: attempt.body) else {
                throw StoreError(.damaged, "the event of the delivery \(attempt.id) is not in the log")
            }
            var encoded = attempt.webhook
            if encoded == nil {
                underWay.definition = Array(data[event.definition])
                underWay.version = event.progress.version
                encoded = try source.webhookOfDeleted(will: attempt.will, underWay.definition)
            }
            guard let webhook = encoded.flatMap({ webhooks.webhook($0) }) else {
                throw StoreError(.damaged, "the webhook of the delivery \(attempt.id) can't be read")
            }
            underWay.retry = webhook.retry
            underWay.expiresAt = webhook.retry.maxAgeMs.map { (attempt.redrivenAt ?? event.at) + $0 }
            if case .event(.fired, _, _) = event.content { underWay.firedAt = event.at }
            if let expiresAt = underWay.expiresAt, attempt.begunAt >= expiresAt {
                var end = AttemptEnd(aged: attempt)
                end.definition = underWay.definition
                end.version = underWay.version
                source.ends.append(end)
                return nil
            }
            var sent = sending.event(event, data, webhook)
            // The attempt is a span of its own in the trace that the timer kept.
            sent.trace = sent.trace?.caused(by: max(1, KernelRandom.words(1)[0]))
            underWay.url = webhook.url
            self.underWay[attempt.id] = underWay
            return request(attempt.id, sent, by: webhook)
        } catch {
            // Nothing was sent, so no attempt is lost. The event's row may also have been rewritten just now.
            report(.deliveryUnreadable(error))
            source.log.engine.postpone(attempt.id, milliseconds: Self.unreadablePause)
            return nil
        }
    }
}

extension Dispatcher: Worker {
    var name: String { "deliver" }

    /// Begins no further attempts and waits up to `seconds` for those under way; an attempt that has not ended by
    /// then is made again by the next process.
    func drain(seconds: Double) { stop(seconds: seconds) }

    /// Stops without waiting for attempts under way.
    func stop() { stop(seconds: 0) }
}

/// Sends the requests of the dispatcher's attempts: `Courier`, or a simulated one.
protocol WebhookCourier: Sendable {
    /// Begins to work. Called once.
    func start()
    /// Begins requests; each has one result.
    func submit(_ requests: [CourierRequest])
    /// Stops; requests under way have `deadlineSeconds` to end.
    func stop(deadlineSeconds: Double)
}

extension Courier: WebhookCourier {}
