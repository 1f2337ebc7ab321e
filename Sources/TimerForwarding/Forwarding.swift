package import HTTPServer
import Platform
package import TimerAPI

/// The forwarding of requests to the server that owns the timers. May be used on any thread.
package final class Forwarding: RequestDesks {
    let source: any RouteSource
    /// The token by which this server proves to the others that it may forward.
    let token: [UInt8]
    let waits = OwnerWaits()
    private let refused: @Sendable () -> Void
    private let outcomes = Guarded(Outcomes())

    private struct Outcomes {
        var counts = [Int](repeating: 0, count: ForwardingOutcome.allCases.count)
        /// The outcome that was counted last.
        var newest = ForwardingOutcome.answered
    }

    /// - Parameters:
    ///   - source: the nodes to which requests are forwarded.
    ///   - token: proves to the others that this server may forward.
    ///   - refused: called when another server does not take the token: theirs differ. Any thread, often.
    package init(by source: any RouteSource, token: [UInt8], refused: @escaping @Sendable () -> Void) {
        self.source = source
        self.token = token
        self.refused = refused
    }

    package var knowsOwner: Bool {
        // The server that the directory named last may be gone, where the directory does not answer.
        source.routes.value.owner != nil && (!source.isCutOff || outcomes.withLock { $0.newest == .answered })
    }

    package func makeDesk(for handler: TimerHandler, on loop: Loop) -> any RequestDesk {
        ForwardingDesk(self, handler, loop)
    }

    package var counts: [(outcome: String, count: Int)] {
        outcomes.withLock { outcomes in ForwardingOutcome.allCases.map { ("\($0)", outcomes.counts[$0.rawValue]) } }
    }

    /// Counts one more request by its outcome.
    func count(_ outcome: ForwardingOutcome) {
        outcomes.withLock { outcomes in
            outcomes.counts[outcome.rawValue] += 1
            outcomes.newest = outcome
        }
    }

    /// Reports that another server does not take the token.
    func tokenWasRefused() { refused() }
}

/// The outcome of a forwarded request.
enum ForwardingOutcome: Int, CaseIterable {
    /// Another server has answered the request.
    case answered
    /// The request was sent again, as its connection broke or the server no longer answered for the timer.
    case repeated
    /// No server was found in time.
    case refused
    /// The server that may have seen it is gone: its client was answered that the outcome is not known.
    case unknown
}

/// The bounds on the requests that wait until it is known which server answers for their timers: their number, and
/// the bytes of their bodies. May be used on any thread.
final class OwnerWaits: Sendable {
    private struct Held: Sendable {
        var requests = 0
        var bytes = 0
    }

    private static let mostRequests = 10_000
    private static let mostBytes = 64 << 20
    private let held = Guarded(Held())

    /// Counts a request with a body of `bytes`. Returns false if there are too many requests or bytes.
    func take(_ bytes: Int) -> Bool {
        held.withLock { held in
            guard held.requests < Self.mostRequests, held.bytes + bytes <= Self.mostBytes else { return false }
            held.requests += 1
            held.bytes += bytes
            return true
        }
    }

    /// Uncounts a request that was counted with `bytes`.
    func giveBack(_ bytes: Int) {
        held.withLock { held in
            held.requests -= 1
            held.bytes -= bytes
        }
    }
}
