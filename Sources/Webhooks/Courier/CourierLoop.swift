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
    private let resolver: Resolver
    private let way: CourierWay
    private var book = AddressBook()
    private var awaited = AwaitedNames()
    private var underWay: [ExchangeHandle] = []
    private var idle: [ExchangeHandle] = []
    private var arrived: [CourierRequest] = []
    private var lookedUp: [CourierMail.LookedUp] = []
    private var results: [CourierResult] = []

    init(
        _ mail: CourierMail, _ settings: ExchangeHandle.Settings, lookUp: @escaping Resolver.Lookup,
        finished: @escaping @Sendable ([CourierResult]) -> Void
    ) {
        self.mail = mail
        self.settings = settings
        self.finished = finished
        limits = settings.limits
        way = CourierWay(proxy: settings.limits.proxy, judge: settings.judge)
        let multi = MultiHandle(connections: max(1, limits.exchanges))
        self.multi = multi
        resolver = Resolver(threads: limits.lookups, lookUp: lookUp) { name, addresses in
            mail.leave(CourierMail.LookedUp(name: name, addresses: addresses))
            multi.wake()
        }
    }

    /// Has `run` look at the mail. Any thread.
    func wake() { multi.wake() }

    /// Works until the mail is closed and every request has its result.
    func run() {
        while true {
            let deadline = mail.take(into: &arrived, lookedUp: &lookedUp)
            goOn()
            begin(isStopping: deadline != nil)
            if let deadline, stopped(by: deadline) { break }
            multi.perform()
            collect()
            report()
            multi.wait(milliseconds: waitMs(deadline))
        }
        resolver.stop()
        idle = []
    }

    private func waitMs(_ deadline: Int64?) -> Int32 {
        let next = min(deadline ?? .max, awaited.nextDeadline)
        guard next != .max else { return Int32(Self.longestWaitMs) }
        let left = (next - Clocks.monotonic()) / 1_000_000 + 1
        return Int32(max(0, min(Self.longestWaitMs, left)))
    }

    /// Begins what has arrived.
    private func begin(isStopping: Bool) {
        guard !arrived.isEmpty else { return }
        let now = Clocks.monotonic()
        for request in arrived {
            let request = TimedRequest(request, now: now)
            if isStopping {
                end(request, .interrupted, "not sent: stopping", now)
            } else if let fault = request.request.fault {
                end(request, .malformed, "not sent: \(fault)", now)
            } else if underWay.count + awaited.count >= limits.exchanges {
                end(request, .interrupted, "not sent: \(limits.exchanges) exchanges are under way already", now)
            } else {
                begin(request, now: now)
            }
        }
        arrived.removeAll(keepingCapacity: arrived.capacity <= 4096)
        noteInFlight()
    }

    private func noteInFlight() { mail.inFlight.store(underWay.count + awaited.count, ordering: .relaxed) }

    /// Goes on with requests whose addresses were looked up, or whose time was over before.
    private func goOn() {
        let now = Clocks.monotonic()
        for (name, addresses) in lookedUp.map({ ($0.name, $0.addresses) }) {
            book.note(name, addresses, now: now)
            for request in awaited.take(name) {
                if now >= request.deadline {
                    end(request, .timedOut, "timed out while the host was looked up", now)
                } else if addresses.isEmpty {
                    end(request, .unresolved, "the host has no address: \(name)", now)
                } else {
                    begin(request, now: now)
                }
            }
        }
        lookedUp.removeAll(keepingCapacity: true)
        for request in awaited.takeExpired(now: now, resolver) {
            end(request, .timedOut, "timed out before the host was looked up", now)
        }
    }

    /// Begins an exchange, once the addresses that it needs are known.
    private func begin(_ request: TimedRequest, now: Int64) {
        let (hosts, refusal) = way.hosts(of: request.request.url)
        if let refusal { return end(request, .refused, "refused: \(refusal)", now) }
        var resolutions: [String] = []
        for host in hosts where host.isLookedUp {
            guard let addresses = book.addresses(of: host.host, now: now) else {
                if awaited.add(request, for: host.host) {
                    resolver.ask(host.host, isKnown: book.knows(host.host))
                }
                return
            }
            resolutions.append(host.resolution(addresses))
        }
        guard let exchange = idle.popLast() ?? ExchangeHandle(settings, multi.sockets) else {
            return end(request, .interrupted, "not sent: out of memory", now)
        }
        let code = exchange.prepare(request, resolutions, now: now)
        guard code == CURLE_OK else {
            let (failure, reason) = exchange.failure(code)
            return end(request, failure, "not sent: \(reason)", now)
        }
        guard multi.add(exchange) else { return end(request, .interrupted, "not sent: out of memory", now) }
        exchange.index = underWay.count
        underWay.append(exchange)
    }

    /// Ends a request that was not sent.
    private func end(_ request: TimedRequest, _ failure: DeliveryFailure, _ error: String, _ now: Int64) {
        results.append(
            CourierResult(
                serial: request.request.serial, failure: failure, error: error, startedAt: request.startedAt,
                endedAt: now))
    }

    /// Takes the results of what has ended.
    private func collect() {
        var now: Int64 = 0
        while let (exchange, code) = multi.nextEnded() {
            if now == 0 { now = Clocks.monotonic() }
            if exchange.repeats(code, now: now) {
                multi.remove(exchange)
                if exchange.prepareAgain(now: now) == CURLE_OK && multi.add(exchange) { continue }
            }
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
        noteInFlight()
        guard !results.isEmpty else { return }
        finished(results)
        results.removeAll(keepingCapacity: true)
    }

    /// Ends what need not be waited for; returns whether nothing is left.
    private func stopped(by deadline: Int64) -> Bool {
        let now = Clocks.monotonic()
        if now >= deadline {
            while let exchange = underWay.last {
                var result = exchange.result(CURLE_ABORTED_BY_CALLBACK, now: now)
                if result.status == 0 { (result.failure, result.error) = (.interrupted, "given up: stopping") }
                results.append(result)
                remove(exchange)
            }
            for request in awaited.takeAll() { end(request, .interrupted, "given up: stopping", now) }
        }
        report()
        return underWay.isEmpty && awaited.count == 0
    }
}
