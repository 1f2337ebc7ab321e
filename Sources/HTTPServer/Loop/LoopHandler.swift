/// What a loop's requests are answered by. Every function runs on the loop's thread.
public protocol LoopHandler: AnyObject {
    /// The head is complete and its framing sound: take the request, or fill `exchange.response` and refuse it.
    func admit(_ exchange: Exchange) -> Admission

    /// The request is complete. The answer may be sent at once, or kept and sent later on this thread.
    func handle(_ exchange: Exchange, _ answer: consuming Answer)

    /// The requests that were ready have all been handled. Answers sent here leave in the same turn.
    func turnEnded()

    /// `Loop.wake` was called, once or more.
    func woken()

    /// What waited in the loop's sockets was read and handled after `Loop.askForReading` had been called `round` times.
    func socketsWereRead(round: Int)

    /// At least once a second. `now` is the monotonic clock's, in nanoseconds.
    func tick(now: Int64)

    /// When `deadlineCame` is to be called, by the monotonic clock in nanoseconds; nil for never.
    var deadline: Int64? { get }

    /// The deadline that was asked for has come.
    func deadlineCame(now: Int64)

    /// The stream's buffer is empty again.
    func streamWritable(_ stream: DetachedStream)

    /// The stream is over: its client has gone, it failed, or it was finished. Called exactly once for each.
    func streamClosed(_ stream: DetachedStream)

    /// The client went before the parked answer was sent. Called once at most, and not after `ParkedAnswer.send`.
    func parkedClosed(_ parked: ParkedAnswer)

    /// The server stops soon: finish the streams, send the parked answers. Called once.
    func drainBegan()

    /// Fills `exchange.response` with the server's own refusal. Only method and target of the request are sure.
    func renderRefusal(_ refusal: Refusal, into exchange: Exchange)
}

extension LoopHandler {
    /// Nobody asks.
    public func socketsWereRead(round: Int) {}

    /// Nothing waits for an instant.
    public var deadline: Int64? { nil }

    /// Nothing was asked for.
    public func deadlineCame(now: Int64) {}
}
