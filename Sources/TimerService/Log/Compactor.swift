import Platform
import TimerLog

/// The thread that keeps the log short.
final class Compactor: Worker {
    let name = "compact"
    private let log: Published<ActiveLog?>
    private let pacing = CompactionPacing()
    private let report: @Sendable (ServiceEvent) -> Void

    init(_ log: Published<ActiveLog?>, report: @escaping @Sendable (ServiceEvent) -> Void) {
        self.log = log
        self.report = report
    }

    /// Compacts until `stop`. The body of the compactor's thread.
    func run() {
        var owned = Published.Copy(log)
        var compaction = owned.value.map { LogCompaction($0, pacing, report: report) }
        var head: Int64?
        while !pacing.isStopping {
            if owned.refresh() { compaction = owned.value.map { LogCompaction($0, pacing, report: report) } }
            let isBusy = compaction?.round() ?? false
            let before = head
            head = owned.value?.engine.durableHead
            if !isBusy { pacing.waitForRound(isResting: head == before) }
        }
    }

    /// Begins a round now: the log has grown, or was dropped. May be called on any thread.
    func nudge() { pacing.nudge() }

    func stop() { pacing.stop() }
}

/// The pace of compaction: when it works, and when it waits. Its methods may be called on any thread.
final class CompactionPacing: Sendable {
    private struct State {
        var isStopping = false
        var isNudged = false
    }

    private let state = Guarded(State())
    /// The pause between two rounds that found nothing, in nanoseconds, and where the log has not grown either.
    private static let pause: Int64 = 1_000_000_000
    private static let rest: Int64 = 10_000_000_000
    /// The time after which a round looks again whether the records it carried are durable, in nanoseconds.
    private static let durabilityPause: Int64 = 1_000_000

    /// Whether the service stops.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Begins a round now: a log has grown.
    func nudge() { state.update { $0.isNudged = true } }

    /// Ends the compaction.
    func stop() { state.update { $0.isStopping = true } }

    /// Waits for the next round.
    ///
    /// - Parameter isResting: whether the log has not grown since the round before.
    func waitForRound(isResting: Bool) {
        _ = state.wait(nanoseconds: isResting ? Self.rest : Self.pause) { state in
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
