import HTTPServer

/// The request a long poll came from, for its answer and the access log.
struct StreamOrigin {
    var requestID: [UInt8]
    var target: [UInt8]
    var peer: String
    /// Monotonic nanoseconds of the request's head.
    var startedAt: Int64

    init(_ ticket: Ticket) {
        requestID = ticket.requestID
        target = ticket.exchange.target
        peer = ticket.exchange.peerDescription
        startedAt = ticket.exchange.startedAt
    }
}
