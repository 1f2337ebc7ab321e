import HTTPServer

// The properties of a request that a desk needs.
extension Ticket {
    /// Whether the request may be carried out twice: reads, and what has one effect however often it comes.
    package var isRepeatable: Bool {
        switch exchange.method {
        case .get, .head: true
        case .post: exchange.header("idempotency-key") != nil && route.takesKeys || !route.takesKeys
        case .delete: !route.takesKeys
        default: false
        }
    }

    /// Whether a GET of it opens a stream or a long poll.
    package var isStream: Bool { route.isStream }

    /// Whether it waits for one event.
    package var isLongPoll: Bool { route == .timerWait }

    /// Whether its stream may change the timer, which counts its subscribers.
    package var maySubscribe: Bool { route == .timerEvents }

    /// Whether it is an export.
    package var isExport: Bool { route == .export }
}
