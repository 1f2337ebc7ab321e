import TimerLog
import TimerService
import WireJSON

/// Looks up which part of an export is to be imported next.
final class ImportStateRun {
    private let export: Hash128
    private let exportText: [UInt8]
    private let scope: PartitionScope
    /// The partition of the next step.
    private(set) var partition: Int
    private var known: [ImportProgress?] = []

    /// - Parameter scope: the partitions that are asked, at least one.
    init(_ text: [UInt8], _ scope: PartitionScope) throws(Problem) {
        guard let export = ImportRequest.id(text) else {
            throw Problem(.notFound, "an export's id is 32 hexadecimal digits, lower-case")
        }
        self.export = export
        exportText = text
        self.scope = scope
        partition = scope.first() ?? 0
    }

    /// Looks at the next partition. Returns whether that was the last one.
    func step(_ turn: borrowing Turn) -> Bool {
        known.append(turn.importProgress(of: export))
        guard let following = scope.next(after: partition) else { return true }
        partition = following
        return false
    }

    /// The answer.
    var outcome: Outcome {
        let text = Self.text(
            exportText, next: known.map(\.nextPart).min() ?? 0, isComplete: known.allSatisfy { $0?.isComplete ?? false }
        )
        return .page(status: 200, type: "application/json", text)
    }

    /// The export's id, as it was asked for.
    var name: [UInt8] { exportText }

    /// The answer's JSON.
    static func text(_ export: [UInt8], next: Int, isComplete: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("export")
        json.string(export)
        json.member("next", Int64(next))
        json.member("complete", isComplete)
        json.endObject()
        return json.bytes
    }
}
