import TimerCore
import TimerService
import WireJSON

/// A timer as its client declares it: the timer is made if there is none, otherwise the fields that
/// differ are changed.
struct Declaration {
    /// The outcome of a step.
    enum Verdict {
        /// The timer is at this slot, made by the step or not.
        case timer(SlotIndex, isNew: Bool)
        /// The fields that would change.
        case differences(Differences)
        /// The webhook does not fit the present one.
        case problem(Problem)
    }

    let key: TimerKey
    /// The id, as the client writes it.
    let id: [UInt8]
    private let body: TimerBody
    private let condition: VersionCondition
    private let unless: VersionCondition
    private let rule: WebhookRule
    /// The definition, made outside of the lock; nil if it depends on the secrets of the present timer.
    private let definition: [UInt8]?

    /// - Parameters:
    ///   - condition: the versions at which a timer may change; any but `none` requires a timer.
    ///   - unless: the versions at which the timer may not change.
    ///   - rule: the rule of the webhook.
    init(
        _ body: TimerBody, id: [UInt8], key: TimerKey, if condition: VersionCondition, unless: VersionCondition = .none,
        _ rule: WebhookRule = .none
    ) throws(Problem) {
        self.body = body
        self.id = id
        self.key = key
        self.condition = condition
        self.unless = unless
        self.rule = rule
        definition = body.keepsSecrets ? nil : try body.definition(id: id)
    }

    /// Makes the timer or changes what differs; under the lock, one step.
    func apply(_ turn: borrowing Turn) throws(ServiceError) -> Verdict {
        let slot = turn.find(key)
        try turn.checkConditions(slot, if: condition, unless: unless)
        try turn.checkAvailable()
        if let slot, let definition, turn.holds(slot, definition) { return .timer(slot, isNew: false) }
        switch declared(over: slot.map { turn.definition(of: $0) } ?? []) {
        case .failure(let problem): return .problem(problem)
        case .success(var definition):
            guard let slot else { return .timer(try turn.create(key, definition: &definition), isNew: true) }
            try turn.declare(slot, definition: &definition)
            return .timer(slot, isNew: false)
        }
    }

    /// Returns the fields that `apply` would change, and refuses what `apply` would refuse.
    func differences(_ turn: borrowing Turn) throws(ServiceError) -> Verdict {
        let slot = turn.find(key)
        try turn.checkConditions(slot, if: condition, unless: unless)
        let present = slot.map { turn.definition(of: $0) } ?? []
        switch declared(over: present) {
        case .failure(let problem): return .problem(problem)
        case .success(let definition):
            try turn.checkDeclaration(slot, definition)
            return .differences(Differences(present: present, declared: definition))
        }
    }

    /// Returns the definition in place of `present`, which is empty for a new timer.
    private func declared(over present: [UInt8]) -> Result<[UInt8], Problem> {
        do throws(Problem) {
            return .success(try rule.checked(body.definition(id: id, over: present), over: present))
        } catch {
            return .failure(error)
        }
    }
}

/// The fields in which a declared timer differs from the present one.
struct Differences {
    /// The encoded definition of the timer; empty if there is none.
    let present: [UInt8]
    /// The encoded definition that the timer would have.
    let declared: [UInt8]

    /// The JSON pointers to the fields, those of the present timer first; the whole document if there is no timer.
    var pointers: [String] {
        guard let old = Definition.layout(present.span) else { return [""] }
        let new = Definition.checkedLayout(declared.span)
        let (before, after) = (Self.fields(present), Self.fields(declared))
        let values = Dictionary(before, uniquingKeysWith: { first, _ in first })
        let others = Dictionary(after, uniquingKeysWith: { first, _ in first })
        var names = before.map(\.name).filter { others[$0] != values[$0] }
        names += after.map(\.name).filter { values[$0] == nil }
        // Different secrets may be shown as the same mask.
        if old.rules.deliveries != new.rules.deliveries
            || present[old.webhook ?? 0..<0] != declared[new.webhook ?? 0..<0]
        {
            names.append("webhook")
        }
        return names.map { "/\($0)" }
    }

    /// Returns the fields that a client sets, except the webhook and those at their defaults, each with its JSON.
    private static func fields(_ definition: [UInt8]) -> [(name: String, value: [UInt8])] {
        var document = JSONDocument()
        do {
            try document.parse(MergePatch.base(definition))
        } catch {
            preconditionFailure("a timer's JSON parses: it is written here")
        }
        var fields: [(name: String, value: [UInt8])] = []
        for member in document.children(of: document.root) {
            let name = String(decoding: document.keyBytes(member), as: UTF8.self)
            let isEmptyList = document.kind(member) == .array && document.firstChild(member) == nil
            if name == "webhook" || document.kind(member) == .null || isEmptyList { continue }
            fields.append((name, document.compact(member)))
        }
        return fields
    }

    /// Writes the answer of a dry run.
    func write(_ json: inout JSONWriter) {
        json.beginObject()
        json.beginArray("differs")
        for pointer in pointers { json.string(pointer) }
        json.endArray()
        json.endObject()
    }
}
