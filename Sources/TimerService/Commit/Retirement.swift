import Platform

/// Has the threads that give partitions up wait until the committer has done its last for them. Any thread.
final class Retirement: Sendable {
    private let isOver = Guarded(false)

    /// Waits until nothing more is done for `partition`, or until the committer has ended.
    func wait(for partition: Partition) {
        isOver.wait { $0 || partition.isRetired || partition.hasEnded ? () : nil }
    }

    /// Has those that wait look at their partitions.
    func note() { isOver.update { _ in } }

    /// Notes that the committer has ended.
    func end() { isOver.update { $0 = true } }
}
