import TimerCore
import TimerLog
import TimerService
import WireJSON

/// A redrive of many dead letters under way, oldest first. Each is redriven atomically, the request as a whole is not.
final class BulkRedriveRun {
    let isDry: Bool
    private let timer: TimerKey?
    private let labels: [[UInt8]]
    private var after: Int64 = 0
    /// The newest dead letter that it looks at; without this bound new ones could keep it from ending.
    private var last: Int64?
    private var isAtEnd = false
    private var reading: DeliveryEventReading?
    /// The partitions of the legs that are left, the one under way first.
    private var legs: ArraySlice<Int>
    /// The partition of the leg that is under way.
    var partition: Int { legs.first ?? 0 }
    /// What the leg under way has done, and what those before it did.
    private var legCounts = BulkCounts()
    private var earlierCounts = BulkCounts()
    /// What all legs have done.
    var counts: BulkCounts { legCounts + earlierCounts }
    /// Id of the last dead letter that was decided, and how many had been redriven when the last part was taken.
    private var decided: Int64 = 0
    private var changedAtPart = 0

    init(
        _ document: JSONDocument, isDry: Bool, siphash: SipHash, key: Hash128? = nil,
        _ layout: PartitionLayout = .single
    ) throws(Problem) {
        self.isDry = isDry
        var timer: TimerKey?
        var labels: [[UInt8]] = []
        guard document.kind(document.root) == .object else {
            throw Problem(.invalidRequest, "the body must be a JSON object", pointer: "")
        }
        var member = document.firstChild(document.root)
        while let field = member {
            switch String(decoding: document.keyBytes(field), as: UTF8.self) {
            case "timer":
                timer = try FieldReader(document, field).timerID().map { TimerKey(id: $0.span, siphash: siphash) }
            case "labels":
                labels = try FieldReader(document, field).labelList()
            case let name:
                throw Problem(
                    .unknownField, "a selector has no field `\(name)`", pointer: document.pointer(to: field))
            }
            member = document.next(field)
        }
        guard timer != nil || !labels.isEmpty else {
            throw Problem(.invalidRequest, "a selector names `timer`, `labels`, or both")
        }
        (self.timer, self.labels) = (timer, labels)
        // A timer's deliveries are in its partition.
        let own = timer.map { [layout.partition(ofHash: $0.hash)] } ?? Array(0..<layout.count)
        // In its key's own partition any other request with the key is met.
        let home = key.map { layout.partition(ofHash: $0.high) }
        legs = own[...]
        if let home { legs = [home] + own.filter { $0 != home } }
    }

    /// Takes the next step, under the lock: redrives the dead letters whose events were read, and finds the next ones.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> DeliveryStep {
        if let reading {
            reading.recheck(turn)
            guard reading.endCheck() else { return .needsEvents(reading) }
            while let entry = reading.entries.first {
                try redrive(entry, turn)
                decided = entry.standing.id
                reading.removeFirst()
            }
            self.reading = nil
        }
        guard !isAtEnd else { return end }
        let found = find(turn)
        guard !found.isEmpty else { return isAtEnd ? end : .more }
        let reading = DeliveryEventReading(found)
        self.reading = reading
        return .needsEvents(reading)
    }

    private var end: DeliveryStep { legs.count == 1 ? .done : .more }

    private func find(_ turn: borrowing Turn) -> [DeliveryStanding] {
        let last = self.last ?? turn.head
        self.last = last
        let top = timer.map { UInt32(truncatingIfNeeded: $0.hash >> 32) }
        var found: [DeliveryStanding] = []
        var examined = 0
        isAtEnd = true
        turn.walkDeliveries(after: after, dead: true) { hash, standing in
            guard standing.id <= last else { return false }
            guard examined < APILimits.examinedPerStep, found.count < APILimits.appliedPerStep else {
                isAtEnd = false
                return false
            }
            examined += 1
            after = standing.id
            if top == nil || top == hash { found.append(standing) }
            return true
        }
        return found
    }

    private func redrive(_ entry: DeliveryEntry, _ turn: borrowing Turn) throws(ServiceError) {
        guard let definition = entry.event?.definition, StreamFilter.carries(labels, definition.span) else { return }
        if let timer, !timer.names(definition.span) { return }
        do throws(ServiceError) {
            switch try turn.redrive(entry.standing.id, definition: definition, isDry: isDry) {
            case .redriven: legCounts.changed += 1
            case .noWebhook, .full: legCounts.skipped += 1
            case .notDead: return
            }
            legCounts.matched += 1
        } catch {
            // The dead letter is gone: another request or its expiry was first.
            guard case .refused = error else { throw error }
        }
    }
}

extension BulkRedriveRun: PartedRun {
    var isTotal: Bool { true }

    var isLegDone: Bool { isAtEnd && reading == nil && legs.count > 1 }

    func beginNextLeg() {
        earlierCounts = counts
        (legCounts, changedAtPart) = (BulkCounts(), 0)
        (after, last, decided, isAtEnd) = (0, nil, 0, false)
        legs.removeFirst()
    }

    func endLeg() { isAtEnd = true }

    var outcome: Outcome { .bulk(counts) }

    func takePart(isLast: Bool) -> [UInt8]? {
        guard isLast || !isDry && legCounts.changed > changedAtPart else { return nil }
        changedAtPart = legCounts.changed
        return BulkProgress(
            after: UInt64(clamping: decided), last: UInt64(clamping: last ?? 0), counts: legCounts
        ).part
    }

    func resume(behind parts: [[UInt8]]) -> Bool {
        var progress = BulkProgress()
        if let part = parts.last {
            guard let read = BulkProgress(part) else { return false }
            progress = read
        }
        decided = Int64(clamping: progress.after ?? 0)
        after = decided
        last = progress.last == 0 ? nil : Int64(clamping: progress.last)
        (legCounts, changedAtPart) = (progress.counts, progress.counts.changed)
        (isAtEnd, reading) = (false, nil)
        return true
    }
}
