import HTTPServer
import TimerLog
import WireJSON

/// Joins how far an import has come in all partitions.
final class ImportStateGathering: Gathering {
    let scope: PartitionScope
    private let export: [UInt8]
    private var next: Int?
    private var isComplete = true

    /// - Parameter export: its id, as it is written.
    init(_ scope: PartitionScope, _ export: [UInt8]) {
        self.scope = scope
        self.export = export
    }

    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool {
        guard let reader = CountReader(answer.body), let next = reader.integer("next") else { return false }
        self.next = min(self.next ?? next, next)
        isComplete = isComplete && reader.isTrue("complete")
        return true
    }

    func fill(_ ticket: Ticket) {
        ticket.exchange.response.add("Content-Type", "application/json")
        ticket.exchange.response.body = ImportStateRun.text(export, next: next ?? 0, isComplete: isComplete)
    }
}
