import Platform
import TimerCore
import TimerLog
import Webhooks

/// The thread that sends deliveries to webhooks: it takes the deliveries of all partitions that are ready, sends them host by
/// host, and records how each attempt ended. A delivery's id is a position, which tells its partition.
///
/// Until a delivery is first in the queue of its host it is a number there; then its event is read by its position, its
/// request made and given to the courier. A timer's next delivery is ready once the outcome of the last is on disk. While the
/// outcomes of a partition can't be recorded, its deliveries wait, and no others.
final class Dispatcher: @unchecked Sendable {
    // Unchecked: `courier` is set once, and what is not in `state` is touched by the dispatcher's thread alone.
    private struct State {
        var arrived: [CourierResult] = []
        var isAwake = false
        /// Numbers of the partitions that may have deliveries that are ready.
        var ready: Set<Int> = []
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
            var numbers: Set<Int> = []
            swap(&numbers, &ready)
            return News(results: results, ready: numbers, isStopping: isStopping, isOver: isOver)
        }
    }

    /// What other threads have reported to the dispatcher's thread.
    private struct News {
        let results: [CourierResult]
        let ready: Set<Int>
        let isStopping: Bool
        let isOver: Bool
    }

    private let state = Guarded(State())
    private var owned: Published<PartitionMap>.Copy
    private let report: @Sendable (ServiceEvent) -> Void
    private let sending: DeliverySending
    private let configuration: DeliveryConfiguration
    private var courier: (any WebhookCourier)?
    /// The partitions, by their numbers.
    private var sources: [DeliverySource?]
    /// Numbers of the partitions that are still to be asked what is ready.
    private var ready: Set<Int> = []
    private var queues: HostQueues<Int64>
    /// Attempts at the courier, by delivery.
    private var underWay: [Int64: UnderWay] = [:]
    private var webhooks = KnownWebhooks()

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

    /// - Parameter makeCourier: makes what sends in place of `Courier`; it is given what takes the results.
    init(
        _ partitions: Published<PartitionMap>, _ configuration: DeliveryConfiguration, _ sending: DeliverySending,
        makeCourier: ((_ finished: @escaping @Sendable ([CourierResult]) -> Void) -> any WebhookCourier)? = nil,
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) {
        owned = Published.Copy(partitions)
        sources = Array(repeating: nil, count: owned.value.layout.count)
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

    /// Notes what the server listens on, where no delivery may go.
    func refuse(_ listeners: [AddressPolicy.Listener]) { state.withLock { $0.listeners = listeners } }

    /// Hears from `partition` when deliveries of it are ready. Called before anything of it changes.
    func watch(_ partition: Partition) {
        let number = partition.number
        partition.engine.observeReadyDeliveries { [weak self] in self?.wake(number) }
        partition.hub.observe { [weak engine = partition.engine] in engine?.ringDeliveries() }
    }

    /// Has the dispatcher's thread look for deliveries of the partition `number` that are ready. Any thread.
    private func wake(_ number: Int) {
        state.update { state in
            state.ready.insert(number)
            state.isAwake = true
        }
    }

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
            if isOver && (!hasEnds || settlesLeft == 0) { return }
            if isOver { settlesLeft -= 1 }
        }
    }

    /// Waits for something to do and does it. Returns whether the courier has reported its last result.
    @discardableResult
    func step() -> Bool {
        let news = wait()
        refresh()
        ready.formUnion(news.ready)
        for result in news.results { end(result, isStopping: news.isStopping) }
        settle()
        if news.isStopping { return news.isOver }
        release()
        queue()
        begin()
        return news.isOver
    }

    /// Forgets what belongs to partitions that are not here any more.
    private func refresh() {
        guard owned.refresh() else { return }
        let gone = sources.indices.filter { number in
            sources[number].map { $0.partition !== owned.value[number] } ?? false
        }
        if gone.isEmpty { return }
        for number in gone { sources[number] = nil }
        let layout = owned.value.layout
        queues.removeWaiting { gone.contains(layout.partition(ofPosition: $0)) }
    }

    private func source(_ number: Int) -> DeliverySource? {
        guard sources.indices.contains(number) else { return nil }
        if sources[number] == nil { sources[number] = owned.value[number].map(DeliverySource.init) }
        return sources[number]
    }

    /// The partition that a delivery belongs to; nil where it is not here any more.
    private func source(of id: Int64) -> DeliverySource? { source(owned.value.layout.partition(ofPosition: id)) }

    /// Whether outcomes are still to be recorded.
    private var hasEnds: Bool { sources.contains { !($0?.ends.isEmpty ?? true) } }

    /// Whether something is to be tried again after a pause.
    private var isWaiting: Bool { sources.contains { $0?.isWaiting ?? false } }

    /// Whether a step would not wait.
    var hasWork: Bool { state.withLock { $0.isAwake } }

    /// Waits until the thread is woken, or for a pause where outcomes are still to be recorded.
    private func wait() -> News {
        if !isWaiting { return state.wait { $0.takeIfAwake() } }
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
        var end = AttemptEnd(ended, delivery: id, attempt: attempt.attempt, attempt.retry)
        end.outcome.status = result.status
        end.definition = attempt.definition
        end.version = attempt.version
        end.firedAt = attempt.firedAt
        end.url = attempt.url
        end.command = result.timerCommand.map { ReceiverCommand($0) }
        source(of: id)?.ends.append(end)
    }

    /// Records what has ended.
    private func settle() { for case let source? in sources where !source.ends.isEmpty { settle(source) } }

    private func settle(_ source: DeliverySource) {
        var done = 0
        while done < source.ends.count {
            let step = source.ends[done..<min(source.ends.count, done + Self.step)]
            let (taken, refused) = source.partition.engine.settle(step)
            for (timer, command) in refused {
                report(.receiverCommandRefused(timer: timer, command: command.text))
            }
            if taken == 0 { break }
            done += taken
        }
        source.ends.removeFirst(done)
    }

    /// Queues again what was put aside, where it may begin now.
    private func release() {
        for case let source? in sources where source.isHeld || !source.putAside.isEmpty {
            source.isHeld = source.isHeld && !source.partition.engine.mayBeginDeliveries
            if source.isBlocked { continue }
            for (id, host) in source.putAside { queues.append(id, host: host) }
            source.putAside = []
        }
    }

    /// Takes the deliveries that are ready over into the queues of their hosts, of each partition in turn a few.
    private func queue() {
        var asked = ready.sorted().compactMap(source).filter { !$0.isBlocked }
        while !asked.isEmpty {
            asked = asked.filter { source in
                let hasMore = queue(source)
                if !hasMore { ready.remove(source.partition.number) }
                return hasMore
            }
        }
    }

    /// Takes a few deliveries of one partition over. Returns whether it has more.
    private func queue(_ source: DeliverySource) -> Bool {
        var isLast = true
        var restarts = 0
        let taken = source.partition.engine.takeReady(limit: Self.step, isLast: &isLast, restarts: &restarts)
        if source.note(restarts: restarts) { removeWaiting(of: source) }
        for ready in taken { queues.append(ready.id, host: ready.origin ?? source.originOfEvent(ready)) }
        return !isLast
    }

    private func removeWaiting(of source: DeliverySource) {
        let layout = owned.value.layout
        if layout.count == 1 { return queues.removeWaiting() }
        queues.removeWaiting { layout.partition(ofPosition: $0) == source.partition.number }
    }

    /// Begins the attempts that may begin.
    private func begin() {
        while sources.contains(where: { $0.map { !$0.isBlocked } ?? false }) {
            var places: [Int64: HostQueues<Int64>.Place] = [:]
            while places.count < Self.step, let (id, place) = queues.take() {
                if let twice = places.updateValue(place, forKey: id) { queues.finished(twice) }
            }
            if places.isEmpty { return }
            let layout = owned.value.layout
            let parts = Dictionary(grouping: places.keys.sorted()) { layout.partition(ofPosition: $0) }
            var requests: [CourierRequest] = []
            for number in parts.keys.sorted() {
                guard let source = source(number), let ids = parts[number] else { continue }
                begin(ids, source, &places, &requests)
            }
            for place in places.values { queues.finished(place) }
            courier?.submit(requests)
        }
    }

    /// Begins the attempts of one partition; what remains in `places` did not begin.
    private func begin(
        _ ids: [Int64], _ source: DeliverySource, _ places: inout [Int64: HostQueues<Int64>.Place],
        _ requests: inout [CourierRequest]
    ) {
        guard !source.isBlocked, let attempts = source.partition.engine.begin(ids) else {
            source.isHeld = true
            for id in ids {
                if let place = places[id] { source.putAside.append((id, queues.host(of: place))) }
            }
            return
        }
        for attempt in attempts {
            guard let place = places.removeValue(forKey: attempt.id) else { continue }
            // The log was folded anew while it was under way: its result still counts.
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
    }

    /// Reads the event of an attempt and makes its request, which is under way then; nil where it can't be read.
    private func request(
        _ attempt: DeliveryAttempt, _ source: DeliverySource, _ place: HostQueues<Int64>.Place
    ) -> CourierRequest? {
        var underWay = UnderWay(place: place, attempt: attempt.number, retry: .standard)
        do throws(StoreError) {
            guard let (event, data) = try source.event(attempt.id, at: attempt.body) else {
                throw StoreError(.damaged, "the event of the delivery \(attempt.id) is not in the log")
            }
            let definition = Array(data[event.definition])
            var encoded = attempt.webhook
            if encoded == nil { encoded = try source.webhookLeft(will: attempt.will, definition) }
            guard let webhook = encoded.flatMap({ webhooks.webhook($0) }) else {
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
            source.partition.engine.postpone(attempt.id, milliseconds: Self.unreadablePause)
            return nil
        }
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
