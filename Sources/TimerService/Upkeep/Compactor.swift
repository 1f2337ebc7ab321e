import Platform
import TimerLog

/// The thread that keeps the logs of all partitions short, one after the other. What events are kept for is theirs together.
final class Compactor: Worker {
    let name = "compact"
    private let partitions: Published<PartitionMap>
    private let pacing = CompactionPacing()
    private let report: @Sendable (ServiceEvent) -> Void

    init(_ partitions: Published<PartitionMap>, report: @escaping @Sendable (ServiceEvent) -> Void) {
        self.partitions = partitions
        self.report = report
    }

    /// Works until `stop`. The body of its thread.
    func run() {
        var owned = Published.Copy(partitions)
        var logs = compactions(of: owned.value, before: [])
        while !pacing.isStopping {
            if owned.refresh() { logs = compactions(of: owned.value, before: logs) }
            if !LogCompaction.round(logs) { pacing.waitForRound() }
        }
    }

    /// One for each partition; those that were there before go on.
    private func compactions(of owned: PartitionMap, before: [LogCompaction]) -> [LogCompaction] {
        var known: [ObjectIdentifier: LogCompaction] = [:]
        for log in before { known[ObjectIdentifier(log.partition)] = log }
        let tuning = LogCompaction.Tuning(partitions: owned.layout.count)
        return owned.all.map { partition in
            known[ObjectIdentifier(partition)] ?? LogCompaction(partition, pacing, tuning: tuning, report: report)
        }
    }

    /// Begins a round now: a log has grown. Any thread.
    func nudge() { pacing.nudge() }

    func stop() { pacing.stop() }
}
