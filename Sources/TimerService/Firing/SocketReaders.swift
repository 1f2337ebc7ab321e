import Platform
import Synchronization

/// Asks the loops to read their sockets after a gap, before a watchdog is judged: kicks that came while the process
/// stood still are in there. Instants are nanoseconds since boot.
///
/// A gap is a time in which no thread read the clocks. The process may have stood still or had nothing to do; these
/// look alike, so either makes the loops read once, when something is due.
final class SocketReaders: Sendable {
    /// The longest gap, in nanoseconds, that counts as none: a longer one may have left kicks in sockets.
    static let longestGap: Int64 = 100_000_000
    /// The longest wait for loops that do not answer, in nanoseconds.
    static let patience: Int64 = 1_000_000_000

    private struct State {
        var readers: [SocketReader] = []
        /// Whether there was a gap since the loops were asked; a process begins with one.
        var hadGap = true
        /// The instant at which the loops were asked, while their answers are awaited; nil otherwise.
        var askedAt: Int64?

        var areRead: Bool { !hadGap && askedAt == nil }
    }

    private let state = Guarded(State())
    /// The value of `State.areRead`, for a look without the lock.
    private let read = Atomic<Bool>(false)
    /// The instant of the last reading of the clocks by any thread.
    private let lastReading = Atomic<Int64>(.max)

    func add(_ reader: SocketReader) { state.withLock { $0.readers.append(reader) } }

    /// Notes that a thread reads the clocks.
    func noteReading(at now: Int64) {
        let gap = now - lastReading.load(ordering: .relaxed)
        lastReading.store(now, ordering: .relaxed)
        if gap > Self.longestGap { noteGap() }
    }

    @inline(never) private func noteGap() {
        state.withLock { state in
            state.hadGap = true
            read.store(false, ordering: .releasing)
        }
    }

    /// Whether watchdogs may be judged now, without asking the loops.
    var areRead: Bool { read.load(ordering: .acquiring) }

    /// Returns whether watchdogs may be judged at `now`; asks the loops, once, where there was a gap.
    func read(at now: Int64) -> Bool {
        state.withLock { state in
            if state.hadGap {
                state.hadGap = false
                state.askedAt = now
                for reader in state.readers { reader.askOnceMore() }
            }
            if let start = state.askedAt {
                guard now - start > Self.patience || state.readers.allSatisfy(\.hasAnswered) else { return false }
                state.askedAt = nil
            }
            read.store(state.areRead, ordering: .releasing)
            return true
        }
    }
}

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
