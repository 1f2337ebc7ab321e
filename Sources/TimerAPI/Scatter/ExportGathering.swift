import HTTPServer
import TimerLog

/// Gathers how all partitions stand, and then begins the export.
final class ExportGathering: Gathering {
    let scope: PartitionScope
    /// How those stand that have answered.
    private(set) var standing: ExportStanding?

    init(_ scope: PartitionScope) { self.scope = scope }

    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool {
        guard let part = ExportStanding(answer.body, of: scope) else { return false }
        if standing?.join(part) == nil { standing = part }
        return true
    }

    func fill(_ ticket: Ticket) {
        preconditionFailure("`conclude` answers: the answer is a stream, and no response")
    }

    func conclude(_ ticket: Ticket, _ handler: TimerHandler) {
        guard let standing else { preconditionFailure("an export concerns at least one partition, which has answered") }
        handler.beginJoinedExport(ticket, standing)
    }
}
