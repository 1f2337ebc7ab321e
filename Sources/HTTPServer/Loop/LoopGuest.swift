package import Platform

/// The part of a loop beside its clients' connections: further sockets, which the loop's epoll watches.
///
/// This file and `Exchange/AnswerChannel.swift` are all that this module knows of other servers: `PeerHTTP` is the guest.
/// Every function runs on the loop's thread.
package protocol LoopGuest: AnyObject {
    /// Whether something is left to be done in a further round, which then follows at once.
    var hasWork: Bool { get }
    /// Whether an answer of this server is under way, for which a loop that stops waits.
    var isBusy: Bool { get }
    /// Whether a loop that stops waits a moment for other sides to close their connections.
    var isAwaited: Bool { get }

    /// A socket of the guest's has an event. Tags are those of a `SocketTable` of kind 1, and 2 to 7.
    func happened(_ event: Epoll.Event)
    /// Whether requests or answers have come since the last call, so that the handler goes on with them.
    func takeProgress() -> Bool
    /// Sends what the round has left to send.
    func flush()
    /// Called about once a second. `now` is the monotonic clock's, in nanoseconds.
    func tick(now: Int64)
    /// The server stops soon: takes no further connections, and no further requests by those there are.
    func drain()
    /// Closes every socket. Nothing follows.
    func close()
}

/// The maker of the loops' guests.
package protocol LoopGuests: Sendable {
    /// Makes one guest for each loop. Called once, before the loops' threads start.
    ///
    /// - Throws: one line that names an address and what is wrong with it.
    func makeGuests(on loops: [LoopCore]) throws(ListenError) -> [any LoopGuest]
}
