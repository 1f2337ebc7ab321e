import CCurl
import Platform
import Synchronization

/// The courier's thread: takes what was submitted, begins what may begin, and tells what has ended.
final class CourierLoop: @unchecked Sendable {  // unchecked: confined to the thread in `run` but for `wake`
    /// Handles that are kept for the next exchange.
    static let idleLimit = 256
    /// The longest wait, in milliseconds; what matters ends it early.
    static let longestWaitMs: Int64 = 1000

    private let mail: CourierMail
    private let limits: CourierLimits
    private let settings: ExchangeHandle.Settings
    private let finished: @Sendable ([CourierResult]) -> Void
    private let multi: MultiHandle
    private var queues: HostQueues
    private var underWay: [ExchangeHandle] = []
    private var idle: [ExchangeHandle] = []
    private var arrived: [CourierRequest] = []
    private var results: [CourierResult] = []

    init(
        _ mail: CourierMail, _ settings: ExchangeHandle.Settings,
        finished: @escaping @Sendable ([CourierResult]) -> Void
    ) {
        self.mail = mail
        self.settings = settings
        self.finished = finished
        limits = settings.limits
        multi = MultiHandle(connections: max(1, limits.concurrency))
        queues = HostQueues(perHost: limits.perHost, concurrency: limits.concurrency)
    }

    /// Has `run` look at the mail. Any thread.
    func wake() { multi.wake() }

    /// Works until the mail is closed and every request has its result.
    func run() {
        while true {
            let deadline = mail.take(into: &arrived)
            queueArrived()
            if let deadline, stopped(by: deadline) { break }
            begin()
            multi.perform()
            collect()
            // What has ended makes room: no waiting while something fills it.
            let hasBegun = begin()
            report()
            if !hasBegun { multi.wait(milliseconds: waitMs(deadline)) }
        }
        idle = []
    }

    private func waitMs(_ deadline: Int64?) -> Int32 {
        guard let deadline else { return Int32(Self.longestWaitMs) }
        let left = (deadline - Clocks.monotonic()) / 1_000_000 + 1
        return Int32(max(0, min(Self.longestWaitMs, left)))
    }

    private func queueArrived() {
        for request in arrived {
            if let fault = request.fault {
                fail(request, "not sent: \(fault)")
            } else if queues.waiting >= limits.waiting {
                fail(request, "not sent: \(limits.waiting) others wait already")
            } else {
                queues.append(request)
            }
        }
        arrived.removeAll(keepingCapacity: arrived.capacity <= 4096)
    }

    /// Begins what may begin. Returns whether anything did.
    @discardableResult
    private func begin() -> Bool {
        let before = underWay.count
        guard queues.waiting > 0 else { return false }
        let now = Clocks.monotonic()
        while let (request, host) = queues.take() {
            guard let exchange = idle.popLast() ?? ExchangeHandle(settings) else {
                fail(request, "not sent: out of memory")
                queues.finished(host)
                continue
            }
            let code = exchange.prepare(request, host: host, now: now)
            guard code == CURLE_OK, multi.add(exchange) else {
                fail(request, "not sent: \(code == CURLE_OK ? "out of memory" : exchange.reason(code))")
                queues.finished(host)
                continue
            }
            mail.waiting.subtract(1, ordering: .relaxed)
            exchange.index = underWay.count
            underWay.append(exchange)
        }
        mail.inFlight.store(underWay.count, ordering: .relaxed)
        return underWay.count > before
    }

    /// Takes the results of what has ended.
    private func collect() {
        var now: Int64 = 0
        while let (exchange, code) = multi.nextEnded() {
            if now == 0 { now = Clocks.monotonic() }
            results.append(exchange.result(code, now: now))
            remove(exchange)
            if idle.count < Self.idleLimit {
                exchange.release()
                idle.append(exchange)
            }
        }
    }

    private func remove(_ exchange: ExchangeHandle) {
        multi.remove(exchange)
        queues.finished(exchange.host)
        let last = underWay.removeLast()
        guard last !== exchange else { return }
        last.index = exchange.index
        underWay[exchange.index] = last
    }

    private func fail(_ request: CourierRequest, _ error: String) {
        let now = Clocks.monotonic()
        mail.waiting.subtract(1, ordering: .relaxed)
        results.append(CourierResult(serial: request.serial, error: error, startedAt: now, endedAt: now))
    }

    private func report() {
        mail.inFlight.store(underWay.count, ordering: .relaxed)
        guard !results.isEmpty else { return }
        finished(results)
        results.removeAll(keepingCapacity: true)
    }

    /// Ends what need not be waited for; returns whether nothing is left.
    private func stopped(by deadline: Int64) -> Bool {
        for request in queues.removeWaiting() { fail(request, "not sent: stopping") }
        let now = Clocks.monotonic()
        if now >= deadline {
            while let exchange = underWay.last {
                var result = exchange.result(CURLE_OK, now: now)
                if result.error != nil { result.error = "given up: stopping" }
                results.append(result)
                remove(exchange)
            }
        }
        report()
        return underWay.isEmpty
    }
}
