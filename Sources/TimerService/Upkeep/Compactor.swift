import TimerLog

/// The thread that keeps the logs of all partitions short, one after the other.
final class Compactor: Worker {
    let name = "compact"
    private let partitions: [Partition]
    private let pacing = CompactionPacing()
    private let report: @Sendable (ServiceEvent) -> Void

    init(_ partitions: [Partition], report: @escaping @Sendable (ServiceEvent) -> Void) {
        self.partitions = partitions
        self.report = report
    }

    /// Works until `stop`. The body of its thread.
    func run() {
        let logs = partitions.map { LogCompaction($0, pacing, report: report) }
        while !pacing.isStopping {
            var isBusy = false
            for log in logs where !pacing.isStopping { isBusy = log.round() || isBusy }
            if !isBusy { pacing.waitForRound() }
        }
    }

    /// Begins a round now: a log has grown. Any thread.
    func nudge() { pacing.nudge() }

    func stop() { pacing.stop() }
}
