import Platform
import Synchronization

/// The bell that wakes the committer, and the notes that are left for it meanwhile. May be used on any thread.
final class CommitBell: Sendable {
    private struct State {
        var isRung = false
        /// Whether more records wait than may.
        var isFull = false
    }

    private let state = Guarded(State())
    private let stopping = Atomic<Bool>(false)
    /// Whether the log has something to commit since the committer last took this note.
    private let isNoted = Atomic<Bool>(false)
    /// Whether the bell was rung since the committer last looked: then it need not be rung again.
    private let isRung = Atomic<Bool>(false)
    /// The number of requests that the batches at hand are to answer, and the number for which the committer waits
    /// before it takes them.
    private let gathered = Atomic<Int>(0)
    private let awaited = Atomic<Int>(0)

    /// Wakes the committer, so that it looks for work.
    func ring() {
        guard !isRung.exchange(true, ordering: .acquiringAndReleasing) else { return }
        state.update { $0.isRung = true }
    }

    /// Notes that the log has something to commit.
    func note() { isNoted.store(true, ordering: .releasing) }

    /// Takes the note back, before the committer looks at the log.
    func takeNote() { _ = isNoted.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether the log has something to commit.
    var hasNote: Bool { isNoted.load(ordering: .acquiring) }

    /// Notes that batches are to answer so many requests more.
    func gather(_ requests: Int) { gathered.add(requests, ordering: .sequentiallyConsistent) }

    /// Rings once as many requests are gathered as the committer waits for.
    func ringWhenGathered() {
        if gathered.load(ordering: .sequentiallyConsistent) >= awaited.load(ordering: .sequentiallyConsistent) {
            ring()
        }
    }

    /// Ends a pause of the committer: more records wait than may.
    func noteFull() { state.update { $0.isFull = true } }

    /// Waits for `nanoseconds` while changes gather; ends early when there are too many, or at a stop. Called on
    /// the committer's thread only.
    func pause(nanoseconds: Int64) {
        state.withLock { $0.isFull = false }
        _ = state.wait(nanoseconds: nanoseconds) { isStopping || $0.isFull ? () : nil }
    }

    /// Makes the committer end once everything is committed.
    func stop() {
        state.update { state in
            stopping.store(true, ordering: .releasing)
            state.isRung = true
        }
    }

    /// Whether the committer is to end.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Waits until the bell is rung. Called on the committer's thread only.
    func wait() {
        state.wait { $0.isRung ? () : nil }
        clear()
    }

    /// Waits like `wait()`, for at most `nanoseconds`. Returns whether the bell was rung.
    func wait(nanoseconds: Int64) -> Bool {
        let isRung = state.wait(nanoseconds: nanoseconds) { $0.isRung ? () : nil } != nil
        if isRung { clear() }
        return isRung
    }

    /// Waits until so many requests are gathered, until the monotonic instant `deadline`, or until a stop.
    func gather(atLeast requests: Int, until deadline: Int64) {
        awaited.store(requests, ordering: .sequentiallyConsistent)
        defer { awaited.store(0, ordering: .sequentiallyConsistent) }
        while gathered.load(ordering: .sequentiallyConsistent) < requests, !isStopping {
            let left = deadline - Clocks.monotonic()
            guard left > 0 else { return }
            _ = wait(nanoseconds: left)
        }
    }

    /// The number of requests that the batches at hand are to answer.
    var gatheredRequests: Int { gathered.load(ordering: .sequentiallyConsistent) }

    /// Notes that so many of the gathered requests are in a batch that was taken.
    func took(_ requests: Int) { gathered.subtract(requests, ordering: .sequentiallyConsistent) }

    private func clear() {
        state.withLock { $0.isRung = isStopping }
        isRung.store(false, ordering: .sequentiallyConsistent)
    }
}
