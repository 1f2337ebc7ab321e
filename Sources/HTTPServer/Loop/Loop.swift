package import Platform
import Synchronization

/// One I/O thread, as other threads see it.
public final class Loop: Sendable {
    /// Its index among the server's loops.
    public let index: Int
    let events = EventFD()
    /// What its thread runs, for what is confined to it; nil once it has ended.
    package let core = Guarded<LoopCore?>(nil)
    private let isSignalled = Atomic(false)
    private let asks = Atomic(0)

    init(index: Int) {
        self.index = index
    }

    /// Has `LoopHandler.woken` be called on the loop soon, once for several calls of this that come together. Any
    /// thread.
    public func wake() {
        if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { events.signal() }
    }

    /// Has `LoopHandler.socketsWereRead` be called once the bytes that the loop's sockets hold now were read and
    /// handled. Any thread.
    public func askForReading() {
        asks.add(1, ordering: .releasing)
        wake()
    }

    /// How often `askForReading` was called.
    var readingsAsked: Int { asks.load(ordering: .acquiring) }

    /// Prepares for the next `wake`. The loop sees after this what other threads left for it before they called `wake`.
    func acknowledge() {
        events.drain()
        _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing)
    }
}
