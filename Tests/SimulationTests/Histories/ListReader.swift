@testable import TimerCore

/// A client that reads a list page by page while timers come and go: all timers, or those of a label.
struct ListReader {
    /// A timer that has been in the list since the reading began.
    private struct Stay: Hashable {
        var id: String
        var life: Int
        var labelling: Int
    }

    /// The label in its encoded form; nil for all timers.
    let label: [UInt8]?
    private var after: UInt64?
    private var stays: Set<Stay> = []
    private var seen: Set<String> = []

    init(label: [UInt8]?, _ model: Model) {
        self.label = label
        stays = Self.stays(label, model)
    }

    private static func stays(_ label: [UInt8]?, _ model: Model) -> Set<Stay> {
        var stays: Set<Stay> = []
        for (id, timer) in model.timers where label.map(timer.carries) ?? true {
            let labelling = label == nil ? 0 : model.labellings[id] ?? 0
            stays.insert(Stay(id: id, life: model.lives[id] ?? 0, labelling: labelling))
        }
        return stays
    }

    /// Reads a page of up to `limit` timers. Returns whether it was the last.
    mutating func read(_ scheduler: borrowing Scheduler, _ model: Model, limit: Int) throws(BrokenPromise) -> Bool {
        stays.formIntersection(Self.stays(label, model))
        var page: [(place: UInt64, slot: SlotIndex)] = []
        scheduler.walk(after: after, over: label.map { Selection.labelled($0) } ?? .all) { place, slot in
            page.append((place, slot))
            return page.count < limit
        }
        for (place, slot) in page {
            var text: [UInt8] = []
            scheduler.withDefinition(slot) { Definition.appendID($0, to: &text) }
            let id = String(decoding: text, as: UTF8.self)
            try promise(seen.insert(id).inserted, "a list shows \(id) twice")
            guard let timer = model.timers[id] else { throw BrokenPromise("a list shows \(id), which is gone") }
            try promise(label.map(timer.carries) ?? true, "a label's list shows \(id), which does not carry it")
            after = place
        }
        guard page.count < limit else { return false }
        let left = stays.first { !seen.contains($0.id) }
        try promise(left == nil, "a list leaves out \(left?.id ?? "")")
        return true
    }
}
