import Platform

/// Answers the requests of one loop. Every function runs on the loop's thread.
public protocol LoopHandler: AnyObject {
    /// Decides about a request whose head is complete and whose framing is valid: accepts it, or fills
    /// `exchange.response` and refuses it.
    func admit(_ exchange: Exchange) -> Admission

    /// Handles a complete request. The answer may be sent at once, or kept and sent later on this thread.
    func handle(_ exchange: Exchange, _ answer: consuming Answer)

    /// Whether `handle` answers this request, which was accepted, though its body is too large: it gets the request without
    /// the body. Else the server refuses it.
    func handlesTooLarge(_ exchange: Exchange) -> Bool

    /// Called when the requests that were ready have all been handled. Answers sent here leave in the same round.
    func requestsWereHandled()

    /// Called after one or more calls of `Loop.wake`.
    func woken()

    /// Called when the bytes that the loop's sockets held at the `round`-th call of `Loop.askForReading` were read
    /// and handled.
    func socketsWereRead(round: Int)

    /// Called about once a second, unless the loop rests. `now` is the monotonic clock's, in nanoseconds.
    func tick(now: Int64)

    /// Called when the loop has nothing open at `now`: returns the instant until which it needs no `tick`. That rest ends
    /// with a `tick`, before anything else, by its time or by an event.
    func rest(now: Int64) -> Int64

    /// The instant at which `deadlineCame` is to be called, on the monotonic clock in nanoseconds; nil for never.
    var deadline: Int64? { get }

    /// Called when `deadline` has come.
    func deadlineCame(now: Int64)

    /// Called once, when the server begins to drain: the handler is to finish the streams and send the parked
    /// answers.
    func drainBegan()

    /// Fills `exchange.response` with the server's own refusal. Of the request only method and target are set for
    /// certain.
    func renderRefusal(_ refusal: Refusal, into exchange: Exchange)
}

extension LoopHandler {
    /// False: the server refuses bodies that are too large.
    public func handlesTooLarge(_ exchange: Exchange) -> Bool { false }

    /// Does nothing.
    public func requestsWereHandled() {}

    /// Does nothing.
    public func woken() {}

    /// Does nothing.
    public func socketsWereRead(round: Int) {}

    /// Does nothing.
    public func tick(now: Int64) {}

    /// Returns `now`: the loop ticks on.
    public func rest(now: Int64) -> Int64 { now }

    /// No deadline.
    public var deadline: Int64? { nil }

    /// Does nothing.
    public func deadlineCame(now: Int64) {}

    /// Does nothing.
    public func drainBegan() {}
}

/// A handler's decision about a request whose head is complete.
public enum Admission: Sendable, Equatable {
    /// Read the body, of at most `bodyLimit` bytes.
    case accept(bodyLimit: Int)
    /// Answer with `exchange.response`, after the body where that is short; `handle` is not called.
    case refuse
}

/// Hands a new handler to a loop, in place of the one that served it so far.
final class HandOver: @unchecked Sendable {  // unchecked: a handler is not touched by the thread that has left it
    private let next = Guarded<(any LoopHandler)?>(nil)

    /// Leaves `handler` for the loop. May be called on any thread.
    func leave(_ handler: any LoopHandler) { next.withLock { $0 = handler } }

    /// Takes the handler that was left, if there is one. Called on the loop's thread only.
    func take() -> (any LoopHandler)? {
        next.update { next in
            defer { next = nil }
            return next
        }
    }

    /// Waits until the loop has taken the handler that was left for it. Must not be called on the loop's thread.
    func waitUntilTaken() {
        next.wait { $0 == nil ? () : nil }
    }
}

/// The handler of a loop that has ended: answers that outlive the loop go nowhere.
final class ClosedHandler: LoopHandler {
    func admit(_ exchange: Exchange) -> Admission { .refuse }
    func handle(_ exchange: Exchange, _ answer: consuming Answer) {}
    func renderRefusal(_ refusal: Refusal, into exchange: Exchange) {}
}
