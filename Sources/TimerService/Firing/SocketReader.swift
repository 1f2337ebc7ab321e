import Synchronization

/// A loop that reads sockets, as the engine sees it: when asked, the loop reports once it has carried out what was
/// in them.
public final class SocketReader: Sendable {
    private let ask: @Sendable () -> Void
    private let onRead: @Sendable () -> Void
    private let asks = Atomic<Int>(0)
    private let answered = Atomic<Int>(0)

    init(ask: @escaping @Sendable () -> Void, onRead: @escaping @Sendable () -> Void) {
        self.ask = ask
        self.onRead = onRead
    }

    /// Notes that the loop has carried out what was in its sockets when it had been asked `round` times.
    public func reportRead(round: Int) {
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
