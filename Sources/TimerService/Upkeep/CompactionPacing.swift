import Platform

/// The pace of compaction: when it works, and when it waits. Its methods may be called on any thread.
final class CompactionPacing: Sendable {
    private struct State {
        var isStopping = false
        var isNudged = false
    }

    private let state = Guarded(State())
    /// The pause between two rounds that found nothing, in nanoseconds.
    private static let pause: Int64 = 1_000_000_000
    /// The time after which a round looks again whether the records it carried are durable, in nanoseconds.
    private static let durabilityPause: Int64 = 1_000_000

    /// Whether the service stops.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Begins a round now: a log has grown.
    func nudge() { state.update { $0.isNudged = true } }

    /// Ends the compaction.
    func stop() { state.update { $0.isStopping = true } }

    /// Waits for the next round.
    func waitForRound() {
        _ = state.wait(nanoseconds: Self.pause) { state in
            guard state.isNudged || state.isStopping else { return nil as Void? }
            state.isNudged = false
            return ()
        }
    }

    /// Waits a moment, until something may be durable.
    func waitForDurability() {
        _ = state.wait(nanoseconds: Self.durabilityPause) { $0.isStopping ? () : nil as Void? }
    }
}
