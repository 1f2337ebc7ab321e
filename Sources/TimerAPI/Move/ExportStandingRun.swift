import TimerCore
import TimerLog
import TimerService

/// Looks how partitions stand for an export: one after the other, each in one step.
final class ExportStandingRun {
    private let scope: PartitionScope
    /// The partition of the next step.
    private(set) var partition: Int
    private var mark: PageMark
    private var isDrained = true
    private var versionFloor: Int64 = 0
    private var at: Int64 = 0
    private var stamps: [Int: UInt64] = [:]

    /// - Parameter scope: the partitions that it looks at, at least one.
    init(_ scope: PartitionScope, _ mark: PageMark) {
        self.scope = scope
        self.mark = mark
        partition = scope.first() ?? 0
    }

    /// Looks at the next partition. Returns whether that was the last one.
    func step(_ turn: borrowing Turn) -> Bool {
        mark.note(turn, partition)
        isDrained = isDrained && turn.isDrained && turn.attemptsUnderWay == 0
        versionFloor = max(versionFloor, turn.versionFloor)
        at = max(at, turn.now.wall)
        stamps[partition] = turn.drainStamp
        guard let following = scope.next(after: partition) else { return true }
        partition = following
        return false
    }

    /// The answer.
    var outcome: Outcome {
        let standing = ExportStanding(
            isDrained: isDrained, versionFloor: versionFloor, mark: mark.head ?? .beginning, at: at, stamps: stamps)
        return .page(status: 200, type: "application/json", standing.text(scope))
    }
}
