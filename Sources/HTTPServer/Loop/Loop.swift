package import Platform
import Synchronization

/// One I/O thread, as other threads see it.
public final class Loop: Sendable {
    /// The index of the loop among the server's loops.
    public let index: Int
    let events = EventFD()
    /// The core that the loop's thread runs, for objects that are confined to that thread; nil once the loop has
    /// ended.
    package let core = Guarded<LoopCore?>(nil)
    private let isSignalled = Atomic(false)
    private let asks = Atomic(0)

    init(index: Int) {
        self.index = index
    }

    /// Makes the loop call `LoopHandler.woken` soon, once for several calls of this that come together. May be
    /// called on any thread.
    public func wake() {
        if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { events.signal() }
    }

    /// Makes the loop call `LoopHandler.socketsWereRead` once the bytes that its sockets hold now were read and
    /// handled. May be called on any thread.
    public func askForReading() {
        asks.add(1, ordering: .releasing)
        wake()
    }

    /// The number of calls of `askForReading` so far.
    var readingsAsked: Int { asks.load(ordering: .acquiring) }

    /// Prepares for the next `wake`. The loop sees after this what other threads left for it before they called `wake`.
    func acknowledge() {
        events.drain()
        _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing)
    }
}
