import HTTPServer
import TimerLog
import WireJSON

/// Gives each owner the lines of its partitions: first to check them, then, once all owners have found nothing wrong, to apply them.
///
/// Every partition is asked, whether it has lines or not: each keeps in its log how far the import has come.
final class ImportGathering: Gathering {
    let scope: PartitionScope
    let contentType: StaticString? = ImportPart.type
    private let run: ImportRun
    private let stage: ImportPart.Stage
    private var sum = ImportResult()

    /// - Parameter run: of the whole part, whose lines all have their partitions.
    init(_ run: ImportRun, _ layout: PartitionLayout, _ stage: ImportPart.Stage) {
        self.run = run
        self.stage = stage
        scope = PartitionScope(layout)
    }

    func content(for scope: PartitionScope) -> [UInt8]? {
        let request = run.request
        var content = ImportPart(stage: stage, total: request.total, fingerprint: request.fingerprint).head
        for (line, partition) in zip(request.lines, run.spread.partitions)
        where partition.map({ scope.contains($0) }) ?? true {
            ImportPart.append(request.body[line.range], number: line.number, to: &content)
        }
        return content
    }

    func add(_ answer: PartAnswer, for scope: PartitionScope) -> Bool {
        guard let result = ImportResult(answer.body) else { return false }
        sum.join(result)
        return true
    }

    func fill(_ ticket: Ticket) {
        ticket.exchange.response.add("Content-Type", "application/json")
        ticket.exchange.response.body = sum.text
    }

    func conclude(_ ticket: Ticket, _ handler: TimerHandler) {
        switch stage {
        case .check: handler.applyImport(ticket, run)
        case .apply: handler.answer(ticket, self)
        }
    }
}
