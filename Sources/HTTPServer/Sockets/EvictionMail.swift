import Platform

/// Asks a loop to close a socket for a newcomer on another. Any thread.
final class EvictionMail: @unchecked Sendable {  // unchecked: `asks` is touched inside `lock` only
    private let lock = Lock()
    /// For each, how many loops may still be asked after this one.
    private var asks: [Int] = []
    private let loop: Loop

    init(_ loop: Loop) { self.loop = loop }

    /// Leaves an ask.
    func ask(othersLeft: Int) {
        lock.withLock { asks.append(othersLeft) }
        loop.wake()
    }

    /// Takes what was asked.
    func take() -> [Int] {
        lock.withLock {
            defer { asks = [] }
            return asks
        }
    }
}
