import TimerLog
import TimerService
import WireJSON

/// Looks up which part of an export is to be imported next.
final class ImportStateRun {
    private let export: Hash128
    private let exportText: [UInt8]
    private let layout: PartitionLayout
    /// The partition of the next step.
    private(set) var partition = 0
    private var known: [ImportProgress?] = []

    init(_ text: [UInt8], _ layout: PartitionLayout) throws(Problem) {
        guard let export = ImportRequest.id(text) else {
            throw Problem(.notFound, "an export's id is 32 hexadecimal digits, lower-case")
        }
        self.export = export
        exportText = text
        self.layout = layout
    }

    /// Looks at the next partition. Returns whether that was the last one.
    func step(_ turn: borrowing Turn) -> Bool {
        known.append(turn.importProgress(of: export))
        if partition + 1 == layout.count { return true }
        partition += 1
        return false
    }

    /// The answer.
    var outcome: Outcome {
        var json = JSONWriter()
        json.beginObject()
        json.key("export")
        json.string(exportText)
        json.member("next", Int64(known.map(\.nextPart).min() ?? 0))
        json.member("complete", known.allSatisfy { $0?.isComplete ?? false })
        json.endObject()
        return .page(status: 200, type: "application/json", json.bytes)
    }
}
