import TimerCore
import TimerService
import WireJSON

/// A bulk request under way. Each timer is changed atomically, the request as a whole is not.
final class BulkRun {
    private let action: BulkAction
    let isDry: Bool
    private var labels: [[UInt8]] = []
    private var states: Set<TimerState> = []
    private var after: UInt64?
    private(set) var counts = BulkCounts()
    var changedAtPart = 0

    /// The members of the body that are the selector.
    static let selectorFields: Set<String> = ["labels", "states"]

    /// - Parameter word: the action, as the path names it.
    init(_ word: [UInt8], isDry: Bool, _ document: JSONDocument) throws(Problem) {
        self.isDry = isDry
        let fields = try document.members(of: document.root)
        action = try BulkAction(word, document)
        for field in fields {
            switch String(decoding: document.keyBytes(field), as: UTF8.self) {
            case "labels": labels = try FieldReader(document, field).labelList()
            case "states": states = try Self.states(document, field)
            case let name where action.owns(name): break
            default: throw Problem(noField: field, of: "a selector", document, among: ["labels", "states"])
            }
        }
        guard !labels.isEmpty || !states.isEmpty else {
            throw Problem(.invalidRequest, "a selector names `labels`, `states`, or both")
        }
    }

    private static func states(_ document: JSONDocument, _ node: JSONNode) throws(Problem) -> Set<TimerState> {
        if document.kind(node) == .null { return [] }
        guard document.kind(node) == .array else {
            throw Problem(.invalidRequest, "`states` is a list", pointer: document.pointer(to: node))
        }
        var states: Set<TimerState> = []
        for item in document.children(of: node) {
            let state = try FieldReader(document, item).choice(TimerState.allCases.map { ($0.name, $0) })
            guard let state else {
                throw Problem(.invalidRequest, "a state must be a word", pointer: document.pointer(to: item))
            }
            states.insert(state)
        }
        return states
    }

    /// Applies the action to a bounded number of timers, under the lock. Returns whether the run is done.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> Bool {
        var run: [(place: UInt64, slot: SlotIndex)] = []
        var selected: [Bool] = []
        turn.read { (scheduler: borrowing Scheduler) in
            let selection = scheduler.narrowest(labels: labels)
            scheduler.walk(after: after, over: selection) { place, slot in
                run.append((place, slot))
                return run.count < APILimits.appliedPerStep
            }
            for member in run {
                let state = scheduler.progress(member.slot).state
                let labels = labels
                selected.append(
                    (states.isEmpty || states.contains(state))
                        && scheduler.withDefinition(member.slot) { StreamFilter.carries(labels, $0) })
            }
        }
        turn.noteLooks(run.count)
        for (member, isSelected) in zip(run, selected) {
            if isSelected { try apply(member.slot, turn) }
            after = member.place
            if turn.isSpent { return false }
        }
        return run.count < APILimits.appliedPerStep
    }

    private func apply(_ slot: SlotIndex, _ turn: borrowing Turn) throws(ServiceError) {
        do throws(ServiceError) {
            if try change(slot, turn) { counts.changed += 1 } else { counts.skipped += 1 }
        } catch {
            guard case .refused = error else { throw error }
            counts.skipped += 1
        }
        counts.matched += 1
    }

    /// Applies the action to one timer, or only checks it in a dry run. Returns whether it changes anything.
    private func change(_ slot: SlotIndex, _ turn: borrowing Turn) throws(ServiceError) -> Bool {
        switch action {
        case .delete:
            if !isDry { try turn.delete(slot, if: .none) }
        case .command(let command, let target):
            guard try turn.check(command, slot, target: target) else { return false }
            if !isDry { try turn.apply(command, slot, target: target, if: .none) }
        }
        return true
    }
}

extension BulkRun: BulkPartedRun {
    var progress: BulkProgress { BulkProgress(after: after, counts: counts) }

    func resume(after progress: BulkProgress) { (after, counts) = (progress.after, progress.counts) }
}

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

/// The numbers of timers or deliveries that a bulk request matched, changed and skipped.
struct BulkCounts: Equatable {
    /// The number that the selector matched.
    var matched = 0
    /// The number that were changed.
    var changed = 0
    /// The number that could not be changed: the action was not legal for them.
    var skipped = 0

    /// Writes the counts as a JSON object.
    func write(_ json: inout JSONWriter) {
        json.beginObject()
        json.member("matched", Int64(matched))
        json.member("changed", Int64(changed))
        json.member("skipped", Int64(skipped))
        json.endObject()
    }
}
