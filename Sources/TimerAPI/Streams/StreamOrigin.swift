import HTTPServer

/// The request that a long poll came from, for its answer and the access log.
struct StreamOrigin {
    var requestID: [UInt8]
    var target: [UInt8]
    var peer: String
    /// The instant at which the request's head came, in monotonic nanoseconds.
    var startedAt: Int64

    init(_ ticket: Ticket) {
        requestID = ticket.requestID
        target = ticket.exchange.target
        peer = ticket.exchange.peerDescription
        startedAt = ticket.exchange.startedAt
    }
}
