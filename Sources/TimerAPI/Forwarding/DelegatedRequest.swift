/// A request under way that other servers answer, wholly or in part.
protocol DelegatedRequest: AnyObject {
    var ticket: Ticket { get }
    /// Tries again to send what waits for a server; `now` is the monotonic clock's, in nanoseconds.
    func retry(now: Int64)
    /// Called about once a second.
    func tick(now: Int64)
    /// The server stops soon.
    func drain()
}
