import Platform
import Synchronization

/// One I/O thread, as others see it.
public final class Loop: Sendable {
    /// Its place among the server's loops, from 0.
    public let index: Int
    let events = EventFD()
    private let isSignalled = Atomic(false)
    private let asks = Atomic(0)

    init(index: Int) {
        self.index = index
    }

    /// Has `LoopHandler.woken` run on the loop soon. Any thread; calls that come together count as one.
    public func wake() {
        if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { events.signal() }
    }

    /// Has `LoopHandler.socketsWereRead` called once what waits in the loop's sockets now was read and handled. Any thread.
    public func askForReading() {
        asks.add(1, ordering: .releasing)
        wake()
    }

    /// How often that was asked for.
    var readingsAsked: Int { asks.load(ordering: .acquiring) }

    /// Readies it for the next `wake`; what was left for the loop before earlier ones is seen after this.
    func acknowledge() {
        events.drain()
        _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing)
    }
}
