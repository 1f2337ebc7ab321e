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
        while !pacing.isStopping {
            if owned.refresh() { compaction = owned.value.map { LogCompaction($0, pacing, report: report) } }
            let isBusy = compaction?.round() ?? false
            if !isBusy { pacing.waitForRound() }
        }
    }

    /// Begins a round now: the log has grown, or was dropped. May be called on any thread.
    func nudge() { pacing.nudge() }

    func stop() { pacing.stop() }
}
