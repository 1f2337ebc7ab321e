import Platform

/// What other loops ask a loop: to close a socket, so that a newcomer of theirs gets its place. Any thread.
final class EvictionInbox: Sendable {
    /// For each ask, how many loops may still be asked after this one.
    private let asks = Guarded<[Int]>([])
    private let loop: Loop

    init(_ loop: Loop) { self.loop = loop }

    /// Leaves an ask.
    func ask(othersLeft: Int) {
        asks.withLock { $0.append(othersLeft) }
        loop.wake()
    }

    /// Takes the asks that were left.
    func take() -> [Int] {
        asks.withLock { asks in
            defer { asks = [] }
            return asks
        }
    }
}
