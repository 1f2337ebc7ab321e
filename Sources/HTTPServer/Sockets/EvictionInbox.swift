import Platform

/// A loop's inbox for eviction requests: other loops ask it to close a socket, so that a newcomer of theirs gets
/// its place. May be used on any thread.
final class EvictionInbox: Sendable {
    /// The requests that wait: for each, how many loops may still be asked after this one.
    private let asks = Guarded<[Int]>([])
    private let loop: Loop

    init(_ loop: Loop) { self.loop = loop }

    /// Leaves a request, and wakes the loop.
    func ask(othersLeft: Int) {
        asks.withLock { $0.append(othersLeft) }
        loop.wake()
    }

    /// Takes the requests that were left.
    func take() -> [Int] {
        asks.withLock { asks in
            defer { asks = [] }
            return asks
        }
    }
}
