/// Answers the requests of one loop. Every function runs on the loop's thread.
public protocol LoopHandler: AnyObject {
    /// The head is complete and its framing valid: accept the request, or fill `exchange.response` and refuse it.
    func admit(_ exchange: Exchange) -> Admission

    /// The request is complete. The answer may be sent at once, or kept and sent later on this thread.
    func handle(_ exchange: Exchange, _ answer: consuming Answer)

    /// The requests that were ready have all been handled. Answers sent here leave in the same round.
    func requestsWereHandled()

    /// `Loop.wake` was called, once or more.
    func woken()

    /// The bytes that the loop's sockets held when `Loop.askForReading` had been called `round` times were read and
    /// handled.
    func socketsWereRead(round: Int)

    /// Called about once a second. `now` is the monotonic clock's, in nanoseconds.
    func tick(now: Int64)

    /// When `deadlineCame` is to be called, by the monotonic clock in nanoseconds; nil for never.
    var deadline: Int64? { get }

    /// `deadline` has come.
    func deadlineCame(now: Int64)

    /// The server stops soon: finish the streams, send the parked answers. Called once.
    func drainBegan()

    /// Fills `exchange.response` with the server's own refusal. Of the request only method and target are set for
    /// certain.
    func renderRefusal(_ refusal: Refusal, into exchange: Exchange)
}

extension LoopHandler {
    /// Does nothing.
    public func requestsWereHandled() {}

    /// Does nothing.
    public func woken() {}

    /// Does nothing.
    public func socketsWereRead(round: Int) {}

    /// Does nothing.
    public func tick(now: Int64) {}

    /// Never.
    public var deadline: Int64? { nil }

    /// Does nothing.
    public func deadlineCame(now: Int64) {}

    /// Does nothing.
    public func drainBegan() {}
}
