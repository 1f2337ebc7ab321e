import Platform

/// What became of the requests that this server has forwarded. Any thread.
final class ForwardingCounts: Sendable {
    /// What became of a request.
    enum Outcome: Int, CaseIterable {
        /// Another server has answered it.
        case answered
        /// It was sent again, as its connection broke or the server no longer answered for the timer.
        case repeated
        /// No server was found in time.
        case refused
        /// The server that may have seen it has gone: its client was told that the outcome is not known.
        case unknown
    }

    private let counts = Guarded([Int](repeating: 0, count: Outcome.allCases.count))

    /// Counts one more.
    func count(_ outcome: Outcome) { counts.withLock { $0[outcome.rawValue] += 1 } }

    /// How many there were, by outcome.
    var all: [(Outcome, Int)] { counts.withLock { counts in Outcome.allCases.map { ($0, counts[$0.rawValue]) } } }
}
