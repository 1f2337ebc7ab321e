import TimerLog
import WireJSON

/// A request that asks which part of an export is to be imported next.
struct ImportState {
    /// The export's id.
    let export: Hash128
    private let exportText: [UInt8]

    init(_ text: [UInt8]) throws(Problem) {
        guard let export = ImportRequest.id(text) else {
            throw Problem(.notFound, "an export's id is 32 hexadecimal digits, lower-case")
        }
        self.export = export
        exportText = text
    }

    /// Returns the answer.
    ///
    /// - Parameter progress: the progress of the import; nil if it was not begun.
    func outcome(_ progress: ImportProgress?) -> Outcome {
        var json = JSONWriter()
        json.beginObject()
        json.key("export")
        json.string(exportText)
        json.member("next", Int64(progress.nextPart))
        json.member("complete", progress?.isComplete ?? false)
        json.endObject()
        return .page(status: 200, type: "application/json", json.bytes)
    }
}
