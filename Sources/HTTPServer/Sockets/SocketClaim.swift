/// What a socket counts as among the server's, from its coming to its end.
struct SocketClaim {
    enum Kind {
        /// Under HTTP.
        case connection
        /// A stream or a parked answer.
        case stream
        /// Beyond the ordinary number, for a health check.
        case reserved
    }

    /// Whom it counts for; nil: Unix sockets.
    let owner: UInt64?
    var kind: Kind
    /// Whether it is about to be closed for another, and no longer counts for its owner.
    var isGivenUp = false
}
