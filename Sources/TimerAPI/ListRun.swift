import TimerCore
import TimerService

/// A page of timers being gathered, a bounded step at a time.
final class ListRun {
    let states: Set<TimerState>
    let kinds: Set<TimerKind>
    let labels: [[UInt8]]
    let dueBefore: Int64?
    let bySoonest: Bool
    let limit: Int
    private var after: Cursor?
    private var search: SoonestSearch?
    /// Timers that a search has found and that are not on the page yet, soonest last; nil while it goes on.
    private var found: [(place: Scheduler.DuePlace, slot: SlotIndex)]?
    private var examined = 0
    /// The timers of the page so far, each with the place right behind it.
    private(set) var members: [(view: TimerView, behind: Cursor)] = []
    /// About how many bytes of JSON they are.
    private var bytes = 0
    /// Where the next page begins; nil when there is none.
    private(set) var next: Cursor?
    /// Position that everything on the page reflects.
    private(set) var head: Int64?

    /// A place between timers, in either order.
    enum Cursor {
        case place(UInt64)
        case due(Scheduler.DuePlace)

        var text: String {
            switch self {
            case .place(let place): Self.hex(place)
            case .due(let place): "\(Self.hex(UInt64(bitPattern: place.due)))-\(Self.hex(place.place))"
            }
        }

        init?(_ text: [UInt8], bySoonest: Bool) {
            let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            let numbers = parts.compactMap { part in
                part.count == 16 ? UInt64(String(decoding: part, as: UTF8.self), radix: 16) : nil
            }
            guard numbers.count == parts.count, parts.count == (bySoonest ? 2 : 1) else { return nil }
            self =
                bySoonest
                ? .due(Scheduler.DuePlace(due: Int64(bitPattern: numbers[0]), place: numbers[1])) : .place(numbers[0])
            // Numbers may have signs and capitals, cursors have not.
            guard self.text.utf8.elementsEqual(text) else { return nil }
        }

        private static func hex(_ value: UInt64) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }

    init(_ target: Target) throws(Problem) {
        var query = QueryReader(target)
        states = Set(try query.words("state", TimerState.allCases.map { ("\($0.name)", $0) }))
        kinds = Set(try query.words("kind", TimerKind.allCases.map { ("\($0.name)", $0) }))
        labels = try query.labels()
        dueBefore = try query.instant("dueBefore")
        bySoonest = try !query.words("sort", [("nextFireAt", true)]).isEmpty
        limit = Int(
            try query.number(
                "limit", in: 1...Int64(APILimits.listMaximum), default: Int64(APILimits.listDefault)))
        if let text = try query.one("cursor"), !text.isEmpty {
            guard let cursor = Cursor(text, bySoonest: bySoonest) else {
                throw QueryReader.invalid("cursor", "this is no cursor that a page of this order gave")
            }
            after = cursor
        }
        try query.finish()
    }

    /// Gathers on, under the lock. Returns whether the page is done.
    func step(_ turn: borrowing Turn) -> Bool {
        if head == nil { head = turn.head }
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
            let label = labels.count > 1 ? scheduler.rarest(of: labels) : labels.first
            // The walk's closure can't capture the scheduler it walks: matching follows, a bounded run at a time.
            var run: [(place: UInt64, slot: SlotIndex)] = []
            scheduler.walk(after: place, label: label) { member, slot in
                guard inStep < APILimits.examinedPerStep else {
                    isDone = false
                    return false
                }
                inStep += 1
                run.append((member, slot))
                return true
            }
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
        return members.count == limit || isFull || examined >= APILimits.examinedPerPage
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
        }
        while let entry = found?.popLast() {
            // Where the lock was given back meanwhile it may have moved on.
            let isWanted = turn.read { (scheduler: borrowing Scheduler) in
                scheduler.isDue(entry.slot, at: entry.place, now)
                    && TimerJSON.isFirePlanned(scheduler.progress(entry.slot), scheduler.rules(entry.slot), now)
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

    /// Whether the page has as many bytes as it may.
    private var isFull: Bool { bytes >= APILimits.pageBytes }

    private func append(_ slot: SlotIndex, behind: Cursor, _ turn: borrowing Turn) {
        var view = TimerView()
        turn.copy(slot, into: &view)
        bytes += view.definition.count + APILimits.shownBytes
        members.append((view, behind))
    }

    /// Ends the page behind the first `count` of its members.
    func cut(to count: Int) {
        next = members[count - 1].behind
        members.removeSubrange(count...)
    }

    private func matches(_ scheduler: borrowing Scheduler, _ slot: SlotIndex, _ now: Now) -> Bool {
        let progress = scheduler.progress(slot)
        if !states.isEmpty && !states.contains(progress.state) { return false }
        if let dueBefore {
            let rules = scheduler.rules(slot)
            guard TimerJSON.isFirePlanned(progress, rules, now) else { return false }
            if now.wall(of: progress.due, on: rules.clock) >= dueBefore { return false }
        }
        if !kinds.isEmpty && !kinds.contains(scheduler.rules(slot).schedule.kind) { return false }
        let labels = labels
        return labels.isEmpty || scheduler.withDefinition(slot) { StreamFilter.carries(labels, $0) }
    }
}
