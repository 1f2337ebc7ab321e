import Synchronization

/// A loop that reads sockets, as the engine knows it: asked, it reports once it has read what was in them.
public final class SocketReader: Sendable {
    private let ask: @Sendable () -> Void
    private let onRead: @Sendable () -> Void
    private let asks = Atomic<Int>(0)
    private let answered = Atomic<Int>(0)

    init(ask: @escaping @Sendable () -> Void, onRead: @escaping @Sendable () -> Void) {
        self.ask = ask
        self.onRead = onRead
    }

    /// Notes that what was in the loop's sockets when it had been asked `round` times has been carried out.
    public func tellRead(round: Int) {
        answered.store(round, ordering: .releasing)
        onRead()
    }

    func askOnceMore() {
        asks.add(1, ordering: .relaxed)
        ask()
    }

    var hasAnswered: Bool {
        answered.load(ordering: .acquiring) >= asks.load(ordering: .relaxed)
    }
}
