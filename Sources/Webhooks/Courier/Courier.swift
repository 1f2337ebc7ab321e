public import Platform
import Synchronization

/// Makes HTTP exchanges, many at once, on one thread of its own.
///
/// It begins whatever it is given at once; whose turn it is, `HostQueues` tells its caller. Connections are kept and used again. Certificates are verified against the system's authorities. There are no
/// redirects, no cookies, and no proxy but the one that is given. An answer's body is read and thrown away. Names are
/// looked up on threads of the courier's own, so many at most: see `Resolver`.
public final class Courier: Sendable {
    private let mail = CourierMail()
    private let loop: CourierLoop
    private let thread = CourierThread()

    /// Makes a courier; nothing is sent before `start`.
    ///
    /// - Parameters:
    ///   - limits: its bounds.
    ///   - judge: asked before each connection, after DNS, on the courier's thread: the URL's host in lower case (an
    ///     IPv6 address in brackets) and the address. Returns why it must not be made, in one line; nil: it may. Where
    ///     a name has several addresses, libcurl goes on to the next. A connection that is kept is judged
    ///     again before each request, as the answer may have changed.
    ///     With a proxy only an address that stands in the URL is judged: the proxy alone knows where a name leads.
    ///   - lookUp: finds the addresses of a host's name, 4 or 16 bytes each; empty where there are none. It may block.
    ///   - finished: takes the results as they come, on the courier's thread: be quick. Each request has exactly one.
    public init(
        limits: CourierLimits = CourierLimits(),
        judge: @escaping @Sendable (_ host: String, _ address: CourierAddress) -> String?,
        lookUp: @escaping @Sendable (_ name: String) -> [[UInt8]] = NameLookup.addresses,
        finished: @escaping @Sendable ([CourierResult]) -> Void
    ) {
        loop = CourierLoop(
            mail, ExchangeHandle.Settings(limits: limits, judge: judge), lookUp: lookUp, finished: finished)
    }

    /// Begins exchanges; never blocks on the network. Any thread.
    ///
    /// What would be more than `CourierLimits.exchanges` fails at once. An exchange has made room when its result is
    /// told. What is submitted after `stop` is dropped without a result.
    public func submit(_ requests: [CourierRequest]) {
        if mail.leave(requests) { loop.wake() }
    }

    /// Begins to work. Call once.
    public func start() {
        thread.start(loop)
    }

    /// Ends: what has not begun fails at once, what is under way is given `deadlineSeconds` to end and fails then.
    /// Every request that was submitted has its result when this returns. Not from the courier's thread; a second call
    /// waits for the first.
    public func stop(deadlineSeconds: Double) {
        mail.close(deadline: Clocks.monotonic() + Int64(min(max(0, deadlineSeconds), 1e6) * 1e9))
        loop.wake()
        thread.join(loop)
    }

    /// Exchanges under way, to within a turn of the loop.
    public var inFlight: Int { mail.inFlight.load(ordering: .relaxed) }
}

/// The courier's thread: started once, joined once.
private final class CourierThread: @unchecked Sendable {  // unchecked: the fields are touched inside `lock` only
    private let lock = Lock()
    private var running: Thread?
    private var isEnded = false

    func start(_ loop: CourierLoop) {
        lock.withLock {
            guard running == nil, !isEnded else { return }
            running = Thread(name: "webhooks") { loop.run() }
        }
    }

    func join(_ loop: CourierLoop) {
        lock.withLock {
            guard !isEnded else { return }
            isEnded = true
            // Without a thread the results come on this one.
            if let running { running.join() } else { loop.run() }
            running = nil
        }
    }
}
