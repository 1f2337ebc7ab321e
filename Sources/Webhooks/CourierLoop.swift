import CCurl
import Platform
import Synchronization
import TimerCore

/// The courier's thread: takes what was submitted, begins it, and tells what has ended.
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
        multi = MultiHandle(connections: max(1, limits.exchanges))
    }

    /// Has `run` look at the mail. Any thread.
    func wake() { multi.wake() }

    /// Works until the mail is closed and every request has its result.
    func run() {
        while true {
            let deadline = mail.take(into: &arrived)
            begin(isStopping: deadline != nil)
            if let deadline, stopped(by: deadline) { break }
            multi.perform()
            collect()
            report()
            multi.wait(milliseconds: waitMs(deadline))
        }
        idle = []
    }

    private func waitMs(_ deadline: Int64?) -> Int32 {
        guard let deadline else { return Int32(Self.longestWaitMs) }
        let left = (deadline - Clocks.monotonic()) / 1_000_000 + 1
        return Int32(max(0, min(Self.longestWaitMs, left)))
    }

    /// Begins what has arrived.
    private func begin(isStopping: Bool) {
        guard !arrived.isEmpty else { return }
        let now = Clocks.monotonic()
        for request in arrived {
            guard let (failure, reason) = isStopping ? (.interrupted, "stopping") : begin(request, now: now) else {
                continue
            }
            results.append(
                CourierResult(
                    serial: request.serial, failure: failure, error: "not sent: \(reason)", startedAt: now,
                    endedAt: now))
        }
        arrived.removeAll(keepingCapacity: arrived.capacity <= 4096)
        mail.inFlight.store(underWay.count, ordering: .relaxed)
    }

    /// Begins an exchange. Returns why it could not, and the same in one line.
    private func begin(_ request: CourierRequest, now: Int64) -> (DeliveryFailure, String)? {
        if let fault = request.fault { return (.malformed, fault) }
        guard underWay.count < limits.exchanges else {
            return (.interrupted, "\(underWay.count) exchanges are under way already")
        }
        guard let exchange = idle.popLast() ?? ExchangeHandle(settings, multi.sockets) else {
            return (.interrupted, "out of memory")
        }
        let code = exchange.prepare(request, now: now)
        guard code == CURLE_OK else { return exchange.failure(code) }
        guard multi.add(exchange) else { return (.interrupted, "out of memory") }
        exchange.index = underWay.count
        underWay.append(exchange)
        return nil
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
        let last = underWay.removeLast()
        guard last !== exchange else { return }
        last.index = exchange.index
        underWay[exchange.index] = last
    }

    private func report() {
        mail.inFlight.store(underWay.count, ordering: .relaxed)
        guard !results.isEmpty else { return }
        finished(results)
        results.removeAll(keepingCapacity: true)
    }

    /// Ends what need not be waited for; returns whether nothing is left.
    private func stopped(by deadline: Int64) -> Bool {
        let now = Clocks.monotonic()
        if now >= deadline {
            while let exchange = underWay.last {
                var result = exchange.result(CURLE_OK, now: now)
                if result.status == 0 { (result.failure, result.error) = (.interrupted, "given up: stopping") }
                results.append(result)
                remove(exchange)
            }
        }
        report()
        return underWay.isEmpty
    }
}
