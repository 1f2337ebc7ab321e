import TimerCore
import TimerService
import WireJSON

/// A redrive of many dead letters under way, oldest first. Each is redriven atomically, the request as a whole is not.
final class BulkRedriveRun {
    let isDry: Bool
    private var timer: TimerKey?
    /// The id of the timer that the selector names; nil for none.
    private(set) var timerID: [UInt8]?
    private var labels: [[UInt8]] = []
    private var after: Int64 = 0
    /// The newest dead letter that the run examines; without this bound new ones could keep the run from ending.
    private var last: Int64?
    private var isAtEnd = false
    private var reading: DeliveryEventReading?
    private(set) var counts = BulkCounts()
    /// The id of the last dead letter that was decided.
    private var decided: Int64 = 0
    var changedAtPart = 0

    init(_ document: JSONDocument, isDry: Bool, siphash: SipHash) throws(Problem) {
        self.isDry = isDry
        for field in try document.members(of: document.root) {
            switch String(decoding: document.keyBytes(field), as: UTF8.self) {
            case "timer":
                timerID = try FieldReader(document, field).timerID()
                timer = timerID.map { TimerKey(id: $0.span, siphash: siphash) }
            case "labels":
                labels = try FieldReader(document, field).labelList()
            default: throw Problem(noField: field, of: "a selector", document, among: ["timer", "labels"])
            }
        }
        guard timer != nil || !labels.isEmpty else {
            throw Problem(.invalidRequest, "a selector names `timer`, `labels`, or both")
        }
    }

    /// Takes the next step, under the lock: redrives the dead letters whose events were read, and finds the next ones.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> DeliveryStep {
        if let reading {
            guard reading.recheck(turn) else { return .needsEvents(reading) }
            while let entry = reading.entries.first {
                try redrive(entry, turn)
                decided = entry.detail.id
                reading.removeFirst()
            }
            self.reading = nil
        }
        guard !isAtEnd else { return .done }
        let found = find(turn)
        guard !found.isEmpty else { return isAtEnd ? .done : .more }
        let reading = DeliveryEventReading(found)
        self.reading = reading
        return .needsEvents(reading)
    }

    private func find(_ turn: borrowing Turn) -> [DeliveryDetail] {
        let last = self.last ?? turn.head
        self.last = last
        let top = timer.map { UInt32(truncatingIfNeeded: $0.hash >> 32) }
        var found: [DeliveryDetail] = []
        var examined = 0
        isAtEnd = true
        turn.walkDeliveries(after: after, dead: true) { hash, detail in
            guard detail.id <= last else { return false }
            guard examined < APILimits.examinedPerStep, found.count < APILimits.appliedPerStep else {
                isAtEnd = false
                return false
            }
            examined += 1
            after = detail.id
            if top == nil || top == hash { found.append(detail) }
            return true
        }
        return found
    }

    private func redrive(_ entry: DeliveryEntry, _ turn: borrowing Turn) throws(ServiceError) {
        guard let definition = entry.event?.definition, StreamFilter.carries(labels, definition.span) else { return }
        if let timer, !timer.names(definition.span) { return }
        do throws(ServiceError) {
            switch try turn.redrive(entry.detail.id, definition: definition, isDry: isDry) {
            case .redriven: counts.changed += 1
            case .noWebhook, .full: counts.skipped += 1
            case .notDead: return
            }
            counts.matched += 1
        } catch {
            // The dead letter no longer exists: another request or its expiry was first.
            guard case .refused = error else { throw error }
        }
    }
}

extension BulkRedriveRun: BulkPartedRun {
    var progress: BulkProgress {
        BulkProgress(after: UInt64(clamping: decided), last: UInt64(clamping: last ?? 0), counts: counts)
    }

    func resume(after progress: BulkProgress) {
        decided = Int64(clamping: progress.after ?? 0)
        after = decided
        last = progress.last == 0 ? nil : Int64(clamping: progress.last)
        (counts, isAtEnd, reading) = (progress.counts, false, nil)
    }
}
