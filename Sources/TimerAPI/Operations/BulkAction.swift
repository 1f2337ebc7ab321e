import TimerCore
import WireJSON

/// The action of a bulk request on each timer that it selects.
enum BulkAction {
    case command(TimerCommand, RescheduleTarget?)
    case delete

    /// The words that name actions in paths: every command, and `delete`.
    static let names = TimerCommand.allCases.map { "\($0.name)" } + ["delete"]

    /// Whether `word` names an action.
    static func isNamed(_ word: some Sequence<UInt8>) -> Bool { names.contains { $0.utf8.elementsEqual(word) } }

    /// Reads the action that `word` names, with its members of the request's body; the other members
    /// are the selector.
    init(_ word: [UInt8], _ document: JSONDocument) throws(Problem) {
        guard let command = TimerCommand.allCases.first(where: { "\($0.name)".utf8.elementsEqual(word) }) else {
            self = .delete
            return
        }
        guard command == .reschedule else {
            self = .command(command, nil)
            return
        }
        let target = try CommandBody.target(document, document.root, ignored: BulkRun.selectorFields)
        self = .command(command, target)
    }

    /// Whether a member of the body belongs to the action and not to the selector.
    func owns(_ field: String) -> Bool {
        guard case .command(.reschedule, _) = self else { return false }
        return field == "after" || field == "at"
    }
}
