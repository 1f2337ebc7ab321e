import Curl
import Platform
import Synchronization
import TimerCore

/// The courier's thread: takes the requests that were submitted, begins their transfers, and reports their results.
final class CourierLoop: @unchecked Sendable {  // unchecked: confined to the thread in `run` but for `wake`
    /// The most idle transfers that are kept for later requests.
    static let idleLimit = 256
    /// The longest wait, in milliseconds, and while there is no request; requests, lookups and sockets end it early.
    static let longestWaitMs: Int64 = 1000
    static let longestRestMs: Int32 = 10_000

    private let inbox: CourierInbox
    private let limits: CourierLimits
    private let settings: CourierTransfer.Settings
    private let finished: @Sendable ([CourierResult]) -> Void
    private let multi: MultiHandle
    private let resolver: Resolver
    private let proxy: CourierProxy
    private var book = AddressBook()
    private var awaited = WaitingRequests()
    private var underWay: [CourierTransfer] = []
    private var idle: [CourierTransfer] = []
    private var arrived: [CourierRequest] = []
    private var lookedUp: [CourierInbox.LookedUp] = []
    private var results: [CourierResult] = []

    init(
        _ inbox: CourierInbox, _ settings: CourierTransfer.Settings, lookUp: @escaping Resolver.Lookup,
        finished: @escaping @Sendable ([CourierResult]) -> Void
    ) {
        self.inbox = inbox
        self.settings = settings
        self.finished = finished
        limits = settings.limits
        proxy = CourierProxy(settings.limits.proxy, judge: settings.judge)
        let multi = MultiHandle(connections: max(1, limits.transfers))
        self.multi = multi
        resolver = Resolver(threads: limits.lookups, lookUp: lookUp) { name, addresses in
            inbox.leave(CourierInbox.LookedUp(name: name, addresses: addresses))
            multi.wake()
        }
    }

    /// Makes `run` look into the inbox. May be called on any thread.
    func wake() { multi.wake() }

    /// Works until the inbox is closed and every request has its result.
    func run() {
        while true {
            let deadline = inbox.take(into: &arrived, lookedUp: &lookedUp)
            takeLookups()
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
        guard next != .max else { return underWay.isEmpty ? Self.longestRestMs : Int32(Self.longestWaitMs) }
        let left = (next - Clocks.monotonic()) / 1_000_000 + 1
        return Int32(max(0, min(Self.longestWaitMs, left)))
    }

    /// Begins the requests that have arrived.
    private func begin(isStopping: Bool) {
        guard !arrived.isEmpty else { return }
        let now = Clocks.monotonic()
        for request in arrived {
            let request = TimedRequest(request, now: now)
            if isStopping {
                end(request, .interrupted, "not sent: stopping", now)
            } else if let fault = request.request.fault {
                end(request, .malformed, "not sent: \(fault)", now)
            } else if underWay.count + awaited.count >= limits.transfers {
                end(request, .interrupted, "not sent: \(limits.transfers) exchanges are under way already", now)
            } else {
                begin(request, now: now)
            }
        }
        arrived.removeAll(keepingCapacity: arrived.capacity <= 4096)
        noteInFlight()
    }

    private func noteInFlight() { inbox.inFlight.store(underWay.count + awaited.count, ordering: .relaxed) }

    /// Begins the requests whose hosts were looked up, and ends those whose time is over.
    private func takeLookups() {
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

    /// Begins a request's transfer, once the addresses that it needs are known.
    private func begin(_ request: TimedRequest, now: Int64) {
        let (hosts, refusal) = proxy.hosts(of: request.request.url)
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
        guard let transfer = idle.popLast() ?? CourierTransfer(settings, multi.sockets) else {
            return end(request, .interrupted, "not sent: out of memory", now)
        }
        do throws(CurlCode) {
            try transfer.prepare(request, resolutions, now: now)
        } catch {
            let (failure, reason) = transfer.failure(error)
            return end(request, failure, "not sent: \(reason)", now)
        }
        guard multi.add(transfer.easy) else { return end(request, .interrupted, "not sent: out of memory", now) }
        transfer.easy.index = underWay.count
        underWay.append(transfer)
    }

    /// Ends a request that was not sent.
    private func end(_ request: TimedRequest, _ failure: DeliveryFailure, _ error: String, _ now: Int64) {
        results.append(
            CourierResult(
                serial: request.request.serial, failure: failure, error: error, startedAt: request.startedAt,
                endedAt: now))
    }

    /// Takes the results of the transfers that have ended.
    private func collect() {
        var now: Int64 = 0
        while let (index, code) = multi.nextEnded() {
            if now == 0 { now = Clocks.monotonic() }
            let transfer = underWay[index]
            if transfer.repeats(code, now: now) {
                multi.remove(transfer.easy)
                if begunAgain(transfer, now: now) { continue }
            }
            results.append(transfer.result(code, now: now))
            remove(transfer)
            if idle.count < Self.idleLimit {
                transfer.release()
                idle.append(transfer)
            }
        }
    }

    /// Begins a transfer once more. Returns false where libcurl can't.
    private func begunAgain(_ transfer: CourierTransfer, now: Int64) -> Bool {
        do throws(CurlCode) { try transfer.prepareAgain(now: now) } catch { return false }
        return multi.add(transfer.easy)
    }

    private func remove(_ transfer: CourierTransfer) {
        multi.remove(transfer.easy)
        let last = underWay.removeLast()
        guard last !== transfer else { return }
        last.easy.index = transfer.easy.index
        underWay[transfer.easy.index] = last
    }

    private func report() {
        noteInFlight()
        guard !results.isEmpty else { return }
        finished(results)
        results.removeAll(keepingCapacity: true)
    }

    /// Ends every request that is left, once `deadline` has passed. Returns whether none is left.
    private func stopped(by deadline: Int64) -> Bool {
        let now = Clocks.monotonic()
        if now >= deadline {
            while let transfer = underWay.last {
                var result = transfer.result(.aborted, now: now)
                if result.status == 0 { (result.failure, result.error) = (.interrupted, "ended: stopping") }
                results.append(result)
                remove(transfer)
            }
            for request in awaited.takeAll() { end(request, .interrupted, "ended: stopping", now) }
        }
        report()
        return underWay.isEmpty && awaited.count == 0
    }
}
