import Primitives
import TimerCore
import TimerService

/// Gathers a page of timers, one bounded step at a time.
final class ListRun {
    let states: Set<TimerState>
    let kinds: Set<TimerKind>
    let labels: [[UInt8]]
    /// The health that is listed: true for watchdogs that alarm now, false for watchdogs whose health is ok; nil for
    /// all timers.
    let alarms: Bool?
    /// The bytes with which the ids of the listed timers begin; empty for all timers.
    let idPrefix: [UInt8]
    let dueBefore: Int64?
    let bySoonest: Bool
    let limit: Int
    private var after: ListCursor?
    private var search: SoonestSearch?
    /// Timers that the search has found and that are not on the page yet, soonest last; nil during the search.
    private var found: [(place: Scheduler.DuePlace, slot: SlotIndex)]?
    private var examined = 0
    /// The timers of the page so far, each with the cursor after it.
    private(set) var members: [(view: TimerView, behind: ListCursor)] = []
    /// The approximate bytes of JSON of the members.
    private(set) var bytes = 0
    /// The cursor from which the next page begins; nil if there is none.
    private(set) var next: ListCursor?
    /// The id of the newest record when the page was begun: everything on the page reflects all events up to it.
    private(set) var head: EventID?

    init(_ target: Target) throws(Problem) {
        var query = QueryReader(target)
        states = Set(try query.words("state", TimerState.allCases.map { ("\($0.name)", $0) }))
        kinds = Set(try query.words("kind", TimerKind.allCases.map { ("\($0.name)", $0) }))
        labels = try query.labels()
        alarms = try query.word("health", [("ok", false), ("stalled", true)])
        idPrefix = try query.one("idPrefix") ?? []
        guard idPrefix.isEmpty || TimerID.isPrefix(idPrefix) else {
            throw QueryReader.invalid("idPrefix", "no id can begin so")
        }
        dueBefore = try query.instant("dueBefore")
        bySoonest = try query.word("sort", [("nextFireAt", true)]) ?? false
        limit = try query.count("limit", upTo: APILimits.listMaximum, default: APILimits.listDefault)
        if let text = try query.one("cursor") {
            guard let cursor = ListCursor(text, bySoonest: bySoonest) else {
                throw QueryReader.invalid("cursor", "this is no cursor that a page of this order gave")
            }
            after = cursor
        }
        try query.finish()
    }

    /// Gathers more of the page, under the lock. Returns whether the page is done.
    func step(_ turn: borrowing Turn) -> Bool {
        if head == nil { head = EventID(turn.head) }
        return bySoonest ? stepBySoonest(turn) : stepByPlace(turn)
    }

    private func stepByPlace(_ turn: borrowing Turn) -> Bool {
        var place: UInt64?
        if case .place(let value) = after { place = value }
        var inStep = 0
        var isDone = true
        var found: [(place: UInt64, slot: SlotIndex)] = []
        let room = limit - members.count
        turn.read { (scheduler: borrowing Scheduler) in
            let now = turn.now
            let selection = scheduler.narrowest(labels: labels, alarming: alarms ?? false)
            // One timer more than there is room for shows whether there is a next page, if every
            // timer of the walk matches.
            let mostInStep = min(
                APILimits.examinedPerStep, mostExamined - examined, takesAll ? room + 1 : APILimits.examinedPerStep)
            // The walk's closure can't capture the scheduler that it walks over: the timers are matched after the walk.
            var run: [(place: UInt64, slot: SlotIndex)] = []
            run.reserveCapacity(mostInStep)
            scheduler.walk(after: place, over: selection) { member, slot in
                guard inStep < mostInStep else {
                    isDone = false
                    return false
                }
                inStep += 1
                run.append((member, slot))
                return true
            }
            found.reserveCapacity(min(run.count, room))
            for member in run {
                guard found.count < room else {
                    isDone = false
                    break
                }
                place = member.place
                if matches(scheduler, member.slot, now) { found.append(member) }
            }
        }
        examined += inStep
        turn.noteLooks(inStep)
        members.reserveCapacity(members.count + found.count)
        for (index, member) in found.enumerated() {
            append(member.slot, behind: .place(member.place), turn)
            guard isFull || turn.isSpent, index + 1 < found.count else { continue }
            place = member.place
            isDone = false
            break
        }
        after = place.map { .place($0) }
        next = isDone ? nil : after
        if isDone { return true }
        return members.count == limit || isFull || examined >= mostExamined
    }

    /// The most timers that a page examines. Timers are not in the order of their ids: a search for
    /// a prefix examines all.
    private var mostExamined: Int { idPrefix.isEmpty ? APILimits.examinedPerPage : APILimits.examinedForPrefix }

    /// Whether every timer of the narrowest selection matches.
    private var takesAll: Bool {
        states.isEmpty && kinds.isEmpty && labels.count <= 1 && alarms == nil && idPrefix.isEmpty && dueBefore == nil
    }

    private func stepBySoonest(_ turn: borrowing Turn) -> Bool {
        let now = turn.now
        if found == nil {
            var place: Scheduler.DuePlace?
            if case .due(let value) = after { place = value }
            var search = search ?? SoonestSearch(after: place, limit: limit)
            self.search = nil
            let isDone = turn.read { (scheduler: borrowing Scheduler) in search.step(scheduler, now) }
            turn.noteLooks(APILimits.examinedPerStep)
            guard isDone else {
                self.search = search
                return false
            }
            next = search.next.map { .due($0) }
            found = search.found.reversed()
            members.reserveCapacity(search.found.count)
        }
        while let entry = found?.popLast() {
            // The timer may have changed, if the lock was released since the search.
            let isWanted = turn.read { (scheduler: borrowing Scheduler) in
                scheduler.isDue(entry.slot, at: entry.place, now)
                    && scheduler.progress(entry.slot).nextFireAt(scheduler.rules(entry.slot), now) != nil
                    && matches(scheduler, entry.slot, now)
            }
            if let dueBefore, entry.place.due >= dueBefore {
                next = nil
                return true
            }
            if isFull {
                next = members.last?.behind
                return true
            }
            if isWanted { append(entry.slot, behind: .due(entry.place), turn) }
            if turn.isSpent { return false }
        }
        return true
    }

    /// Whether the page has as many bytes as a page may have.
    private var isFull: Bool { bytes >= APILimits.pageBytes }

    private func append(_ slot: SlotIndex, behind: ListCursor, _ turn: borrowing Turn) {
        var view = TimerView()
        turn.copy(slot, into: &view)
        bytes += view.definition.count + APILimits.shownBytes
        members.append((consume view, behind))
    }

    /// Ends the page after its first `count` timers.
    func cut(to count: Int) {
        next = members[count - 1].behind
        members.removeSubrange(count...)
    }

    private func matches(_ scheduler: borrowing Scheduler, _ slot: SlotIndex, _ now: Now) -> Bool {
        if !states.isEmpty && !states.contains(scheduler.progress(slot).state) { return false }
        if let alarms {
            guard scheduler.kicks(slot) != nil else { return false }
            let progress = scheduler.progress(slot)
            if alarms ? !progress.isAlarming : progress.flags.contains(.stalled) { return false }
        }
        if !idPrefix.isEmpty {
            let idPrefix = idPrefix
            guard scheduler.withDefinition(slot, { Definition.id($0, startsWith: idPrefix) }) else { return false }
        }
        if let dueBefore {
            let next = scheduler.progress(slot).nextFireAt(scheduler.rules(slot), now)
            guard let next, next < dueBefore else { return false }
        }
        if !kinds.isEmpty && !kinds.contains(scheduler.rules(slot).schedule.kind) { return false }
        let labels = labels
        return labels.isEmpty || scheduler.withDefinition(slot) { StreamFilter.carries(labels, $0) }
    }
}

/// A position between the timers of a list, in either order.
enum ListCursor {
    case place(UInt64)
    case due(Scheduler.DuePlace)

    var text: String {
        switch self {
        case .place(let place): Hexadecimal.text([place])
        case .due(let place): "\(Hexadecimal.text([UInt64(bitPattern: place.due)]))-\(Hexadecimal.text([place.place]))"
        }
    }

    init?(_ text: [UInt8], bySoonest: Bool) {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Hexadecimal.word($0) }
        guard numbers.count == parts.count, parts.count == (bySoonest ? 2 : 1) else { return nil }
        self =
            bySoonest
            ? .due(Scheduler.DuePlace(due: Int64(bitPattern: numbers[0]), place: numbers[1])) : .place(numbers[0])
    }
}
