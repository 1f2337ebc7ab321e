public import Platform
import Synchronization

/// Makes HTTP requests, many at once, on one thread of its own.
///
/// Every request begins at once; the caller orders them, with `HostQueues`. Connections are kept and used again.
/// Certificates are verified against the system's authorities. There are no redirects, no cookies, and no proxy but
/// `CourierLimits.proxy`. An answer's body is read and thrown away. Names are looked up on threads of the courier's
/// own, at most `CourierLimits.lookups`: see `Resolver`.
public final class Courier: Sendable {
    /// The thread: started once, joined once.
    private struct Worker: Sendable {
        var running: Thread?
        var isEnded = false
    }

    private let inbox = CourierInbox()
    private let loop: CourierLoop
    private let thread = Guarded(Worker())

    /// Makes a courier; nothing is sent before `start`.
    ///
    /// - Parameters:
    ///   - limits: the courier's bounds.
    ///   - judge: asked before each connection, after DNS, on the courier's thread: the URL's host in lower case (an
    ///     IPv6 address in brackets) and the address. Returns in one line why the connection must not be made; nil
    ///     allows it. Where a name has several addresses, libcurl goes on to the next. A connection that is kept is
    ///     judged again before each request, as the rules may have changed.
    ///     With a proxy only an address that is in the URL is judged: the proxy alone knows where a name leads.
    ///   - lookUp: finds the addresses of a host's name, 4 or 16 bytes each; empty where there are none. It may block.
    ///   - finished: takes the results as they come, on the courier's thread: it must be quick. Each request has
    ///     exactly one result.
    public init(
        limits: CourierLimits = CourierLimits(),
        judge: @escaping @Sendable (_ host: String, _ address: CourierAddress) -> String?,
        lookUp: @escaping @Sendable (_ name: String) -> [[UInt8]] = NameLookup.addresses,
        finished: @escaping @Sendable ([CourierResult]) -> Void
    ) {
        loop = CourierLoop(
            inbox, CourierTransfer.Settings(limits: limits, judge: judge), lookUp: lookUp, finished: finished)
    }

    /// Begins requests; never blocks on the network. May be called on any thread.
    ///
    /// A request beyond `CourierLimits.transfers` fails at once. A request counts until its result was given to
    /// `finished`. A request that is submitted after `stop` is dropped without a result.
    public func submit(_ requests: [CourierRequest]) {
        if inbox.leave(requests) { loop.wake() }
    }

    /// Begins to work. Called once.
    public func start() {
        thread.withLock { worker in
            guard worker.running == nil, !worker.isEnded else { return }
            worker.running = Thread(name: "webhooks") { [loop] in loop.run() }
        }
    }

    /// Stops: requests that have not begun fail at once; those under way have `deadlineSeconds` to end and fail
    /// then. Every request that was submitted has its result when this returns. Not called on the courier's thread;
    /// a second call waits for the first.
    public func stop(deadlineSeconds: Double) {
        inbox.close(deadline: Clocks.monotonic() + Int64(min(max(0, deadlineSeconds), 1e6) * 1e9))
        loop.wake()
        thread.withLock { worker in
            guard !worker.isEnded else { return }
            worker.isEnded = true
            // Without a thread the results come on this one.
            if let running = worker.running { running.join() } else { loop.run() }
            worker.running = nil
        }
    }

    /// Requests under way, to within a round of the courier's loop.
    public var inFlight: Int { inbox.inFlight.load(ordering: .relaxed) }
}

/// The bounds of a courier, and its proxy.
public struct CourierLimits: Sendable {
    /// The most requests under way at once; further ones fail at once. As many connections are kept for later requests.
    public var transfers = 1024
    /// The most bytes of an answer's body that are read, so that its connection can be used again; a longer one is
    /// cut off.
    public var bodyLimit = 64 * 1024
    /// The most milliseconds for a connection to be made, where the request does not allow less.
    public var connectTimeoutMs = 10_000
    /// The most threads that look names up. A name server that does not answer keeps a thread until the system's
    /// lookup times out, mostly after half a minute.
    public var lookups = 32
    /// The proxy for every request, as a URL; nil for none. The environment is not asked.
    public var proxy: String?

    /// Makes the default limits.
    public init() {}
}

/// The address and port that a connection is to be made to, after DNS.
public struct CourierAddress: Sendable, Hashable {
    /// The address in network order: 4 bytes of IPv4 or 16 of IPv6.
    public let bytes: [UInt8]
    /// The TCP port.
    public let port: UInt16
}
