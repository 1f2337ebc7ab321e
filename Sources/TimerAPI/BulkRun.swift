import TimerCore
import TimerService
import WireJSON

/// What a bulk request does to each timer it selects.
enum BulkAction {
    case command(TimerCommand)
    case delete

    /// The action a path names.
    init?(_ name: [UInt8]) {
        switch String(decoding: name, as: UTF8.self) {
        case "suspend": self = .command(.suspend)
        case "resume": self = .command(.resume)
        case "cancel": self = .command(.cancel)
        case "activate": self = .command(.activate)
        case "delete": self = .delete
        default: return nil
        }
    }
}

/// A bulk request under way: each timer is one step, the whole is not.
final class BulkRun {
    private let action: BulkAction
    private let isDry: Bool
    private var labels: [[UInt8]] = []
    private var states: Set<TimerState> = []
    private var after: UInt64?
    private(set) var counts = BulkCounts()

    init(_ action: BulkAction, isDry: Bool, _ document: JSONDocument) throws(Problem) {
        self.action = action
        self.isDry = isDry
        guard document.kind(document.root) == .object else {
            throw Problem(.invalidRequest, "the body must be a JSON object", pointer: "")
        }
        var member = document.firstChild(document.root)
        while let field = member {
            switch String(decoding: document.keyBytes(field), as: UTF8.self) {
            case "labels": labels = try FieldReader(document, field).labelList()
            case "states": states = try Self.states(document, field)
            case let name:
                throw Problem(
                    .unknownField, "a selector has no field `\(name)`", pointer: document.pointer(to: field))
            }
            member = document.next(field)
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
        var element = document.firstChild(node)
        while let item = element {
            let state = try FieldReader(document, item).choice(TimerState.allCases.map { ($0.name, $0) })
            guard let state else {
                throw Problem(.invalidRequest, "a state must be a word", pointer: document.pointer(to: item))
            }
            states.insert(state)
            element = document.next(item)
        }
        return states
    }

    /// Applies to a bounded number of timers, under the lock. Returns whether the run is done.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> Bool {
        var run: [(place: UInt64, slot: SlotIndex)] = []
        var selected: [Bool] = []
        turn.read { (scheduler: borrowing Scheduler) in
            let label = labels.count > 1 ? scheduler.rarest(of: labels) : labels.first
            scheduler.walk(after: after, label: label) { place, slot in
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
            switch action {
            case .delete:
                if !isDry { try turn.delete(slot, if: .none) }
            case .command(let command):
                if isDry {
                    guard isLegal(command, slot, turn) else { throw .refused(.notFound) }
                } else {
                    try turn.apply(command, slot, if: .none)
                }
            }
            counts.changed += 1
        } catch {
            guard case .refused = error else { throw error }
            counts.skipped += 1
        }
        counts.matched += 1
    }

    private func isLegal(_ command: TimerCommand, _ slot: SlotIndex, _ turn: borrowing Turn) -> Bool {
        turn.read { (scheduler: borrowing Scheduler) in
            TimerMachine.allows(
                command, in: scheduler.progress(slot).state, restartable: scheduler.rules(slot).restartable,
                isWatchdog: false)
        }
    }
}
