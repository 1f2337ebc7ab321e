/// What a socket counts as in `SocketQuota`, from its start to its end.
struct SocketClaim {
    enum Kind {
        /// Served by the library.
        case connection
        /// A stream or a parked answer.
        case stream
        /// Beyond the ordinary number, for a health check.
        case reserved
    }

    /// The address that it counts for; nil for Unix sockets.
    let owner: UInt64?
    var kind: Kind
    /// Whether it is about to be closed for a newcomer, and no longer counts for its owner.
    var isGivenUp = false
}
