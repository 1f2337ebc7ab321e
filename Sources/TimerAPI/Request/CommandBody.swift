import TimerCore
import WireJSON

/// Reads the body of a command.
enum CommandBody {
    /// Reads the target of a `reschedule`: `{"after": D}` or `{"at": T}`.
    ///
    /// - Parameter ignored: further members, which the caller reads.
    static func target(
        _ document: JSONDocument, _ node: JSONNode, ignored: Set<String> = []
    ) throws(Problem) -> RescheduleTarget {
        var after: Int64?
        var at: Int64?
        var isInDays = false
        for field in try document.members(of: node) {
            let reader = FieldReader(document, field)
            let name = String(decoding: document.keyBytes(field), as: UTF8.self)
            switch name {
            case "after": after = try reader.duration(isInDays: &isInDays)
            case "at": at = try reader.instant()
            case _ where ignored.contains(name): break
            default: throw Problem(noField: field, of: "a reschedule", document, among: ["after", "at"])
            }
        }
        switch (after, at) {
        case (let delay?, nil): return .after(delay, inDays: isInDays)
        case (nil, let instant?): return .at(instant)
        default: throw Problem(.invalidRequest, "a reschedule takes either `after` or `at`", pointer: "")
        }
    }

    /// Checks that the body of a command that takes no members has none.
    static func requireEmpty(_ document: JSONDocument) throws(Problem) {
        guard document.kind(document.root) == .object else {
            throw Problem(.invalidRequest, "the body must be empty or {}", pointer: "")
        }
        if let member = document.firstChild(document.root) {
            throw Problem(noField: member, of: "this command", document, among: [])
        }
    }
}
