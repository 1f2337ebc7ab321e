import HTTPServer
import TimerCore

extension TraceContext {
    /// Reads the trace context of a request; nil where the request has none, or a malformed one. A second
    /// `traceparent` is malformed; several lines of `tracestate` are one list.
    init?(_ headers: RequestHeaders) {
        guard let parents = headers.lines("traceparent"), parents.count == 1 else { return nil }
        var state: [UInt8] = []
        for line in headers.all("tracestate") where state.count <= Self.mostStateBytes {
            if !state.isEmpty { state.append(UInt8(ascii: ",")) }
            state += line.bytes
        }
        self.init(parent: parents.first.bytes, state: state)
    }
}

extension RequestReader {
    /// Reads the trace context of a request that may make, replace or patch timers. The others are not searched for
    /// one, as timers do not keep it.
    func readTrace(_ ticket: Ticket) {
        switch (ticket.route, ticket.exchange.method) {
        case (.timers, .post), (.batch, .post), (.timer, .put), (.timer, .patch):
            ticket.trace = TraceContext(ticket.exchange.headers)?.kept ?? []
        default: break
        }
    }
}
