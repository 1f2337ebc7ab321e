import TimerCore
import TimerService
import Webhooks

/// Gathers a page of deliveries, oldest first, one bounded step at a time; then their events are read.
final class DeliveryListRun {
    private let showsPending: Bool
    private let showsDead: Bool
    private let timer: TimerKey?
    private let labels: [[UInt8]]
    /// The host that the listed deliveries go to; nil for any.
    private let host: WebhookHost?
    let limit: Int
    private var after: Int64 = 0
    private var examined = 0
    private var found: [DeliveryDetail] = []
    private var reading: DeliveryEventReading?
    /// Deliveries whose events were read, and that have still to be matched.
    private var unmatched: ArraySlice<DeliveryEntry> = []
    /// The id after which the next page begins; nil if there is none.
    private(set) var next: EventID?
    /// The id of the newest record when the page was begun: everything on the page reflects all events up to it.
    private(set) var head: EventID?

    /// The deliveries of the page, once it is done.
    private(set) var entries: [DeliveryEntry] = []

    init(_ target: Target, siphash: SipHash) throws(Problem) {
        var query = QueryReader(target)
        let states = Set(try query.words("state", [("pending", DeliveryState.pending), ("dead", .dead)]))
        showsPending = states.isEmpty || states.contains(.pending)
        showsDead = states.isEmpty || states.contains(.dead)
        if let id = try query.one("timer") {
            guard TimerID.isValid(id) else {
                throw QueryReader.invalid("timer", "no timer can have this id")
            }
            timer = TimerKey(id: id.span, siphash: siphash)
        } else {
            timer = nil
        }
        labels = try query.labels()
        host = try query.one("host").map { (text) throws(Problem) in
            guard let host = WebhookHost(String(decoding: text, as: UTF8.self)) else {
                throw QueryReader.invalid("host", "`host` is a host as in a URL, with or without a port")
            }
            return host
        }
        limit = try query.count("limit", upTo: APILimits.listMaximum, default: APILimits.listDefault)
        if let text = try query.one("cursor") {
            guard let cursor = EventID(shown: text) else {
                throw QueryReader.invalid("cursor", "this is no cursor that a page gave")
            }
            after = cursor.position
        }
        try query.finish()
    }

    /// Takes the next step, under the lock.
    func step(_ turn: borrowing Turn) -> DeliveryStep {
        if !unmatched.isEmpty { return match(turn) }
        guard let reading else {
            if head == nil { head = EventID(turn.head) }
            guard gather(turn) else { return .more }
            guard !found.isEmpty else { return .done }
            let reading = DeliveryEventReading(found, needsWebhooks: host != nil)
            self.reading = reading
            return .needsEvents(reading)
        }
        guard reading.recheck(turn) else { return .needsEvents(reading) }
        unmatched = reading.entries[...]
        return match(turn)
    }

    /// Puts the deliveries that match on the page; those of a host take several steps.
    private func match(_ turn: borrowing Turn) -> DeliveryStep {
        let some = host == nil ? unmatched : unmatched.prefix(Self.share)
        // The tables hold only half of the hash of a dead letter's timer: other timers may match too.
        entries += some.filter { entry in
            guard let event = entry.event else { return true }
            return timer.map { $0.names(event.definition.span) } ?? true
                && StreamFilter.carries(labels, event.definition.span) && goesToHost(entry.detail.id, event, turn)
        }
        unmatched = unmatched.dropFirst(some.count)
        if host != nil { turn.noteLooks(some.count * Self.looksPerHost) }
        return unmatched.isEmpty ? .done : .more
    }

    /// The looks at a delivery that finding its host costs as much as.
    private static let looksPerHost = 4

    /// Whether a delivery goes to the host that is asked for.
    private func goesToHost(_ id: Int64, _ event: OwedEvent, _ turn: borrowing Turn) -> Bool {
        guard let host else { return true }
        let target = turn.webhookURL(of: id, definition: event.definition)
        return (target.isKnown ? target.url : event.url).map(host.matches) ?? false
    }

    /// Ends the page after its first `count` entries.
    func cut(to count: Int) {
        next = EventID(entries[count - 1].detail.id)
        entries.removeSubrange(count...)
    }

    /// The deliveries of one state that one hold of the lock examines.
    private struct Stretch {
        var found: [DeliveryDetail] = []
        var examined = 0
        /// The last id that the stretch covers; nil if it reaches the end.
        var end: Int64?
    }

    /// Gathers further deliveries. Returns whether the page is complete.
    private func gather(_ turn: borrowing Turn) -> Bool {
        var stretches: [Stretch] = []
        if showsDead { stretches.append(walk(dead: true, turn)) }
        if showsPending {
            if let timer, !turn.hasDetachedDeliveries {
                stretches.append(pending(of: timer, turn))
            } else {
                stretches.append(walk(dead: false, turn))
            }
        }
        // Deliveries after the end of the shorter stretch are left to the next hold, so that ids only grow.
        let end = stretches.compactMap(\.end).min()
        let merged = stretches.flatMap(\.found).filter { $0.id <= end ?? .max }.sorted { $0.id < $1.id }
        let taken = merged.prefix(limit - found.count)
        found += taken
        examined += stretches.reduce(0) { $0 + $1.examined }
        if taken.count < merged.count, let last = taken.last {
            after = last.id
        } else if let end {
            after = end
        } else {
            next = nil
            return true
        }
        next = EventID(after)
        return found.count == limit || examined >= APILimits.examinedPerPage
    }

    private static let share = APILimits.examinedPerStep / 2

    private func walk(dead: Bool, _ turn: borrowing Turn) -> Stretch {
        var stretch = Stretch()
        let top = timer.map { UInt32(truncatingIfNeeded: $0.hash >> 32) }
        turn.walkDeliveries(after: after, dead: dead) { hash, detail in
            stretch.examined += 1
            if top == nil || top == hash { stretch.found.append(detail) }
            guard stretch.examined < Self.share else {
                stretch.end = detail.id
                return false
            }
            return true
        }
        return stretch
    }

    /// Returns the pending deliveries of the timer that has this id now.
    private func pending(of key: TimerKey, _ turn: borrowing Turn) -> Stretch {
        guard let slot = turn.find(key) else { return Stretch() }
        let ids = turn.pendingDeliveries(of: slot).filter { $0 > after }.sorted()
        var stretch = Stretch()
        for id in ids.prefix(Self.share) {
            if let detail = turn.delivery(id) { stretch.found.append(detail) }
        }
        stretch.examined = min(ids.count, Self.share)
        if ids.count > Self.share { stretch.end = ids[Self.share - 1] }
        return stretch
    }
}
