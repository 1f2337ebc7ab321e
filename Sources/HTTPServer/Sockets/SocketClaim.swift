/// The way in which a socket counts in `SocketQuota`, from its start to its end.
struct SocketClaim {
    enum Kind {
        /// A connection that the library serves.
        case connection
        /// A stream or a parked answer.
        case stream
        /// A connection beyond the ordinary number, for a health check.
        case reserved
    }

    /// The address that the socket counts for; nil for Unix sockets.
    let owner: UInt64?
    var kind: Kind
    /// Whether the socket is about to be closed for a newcomer, and no longer counts for its address.
    var isEvicted = false
}
