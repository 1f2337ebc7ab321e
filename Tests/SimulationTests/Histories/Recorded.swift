@testable import TimerCore
@testable import TimerLog
@testable import TimerService

/// A record that the engine wrote, in the model's terms.
struct Recorded {
    /// Nil for a kick, which names its timer by a hash.
    var id: String?
    var event: ModelEvent
    /// The record's position; it has no meaning for a kick.
    var position: Int64
    /// Whether the record is a timer's state and no event: nothing happened, unless the version is new.
    var isState: Bool
    /// The outcome of an attempt.
    var outcome: DeliveryOutcome?
    /// A delivery as a client changed it, or as a compaction carried it.
    var delivery: DeliveryDetail?
    /// The content that the delivery's receiver must get, where the record holds that.
    var body: [UInt8]?
    /// The whole definition, where the record holds it.
    var definition: [UInt8]?

    /// Reads the record `record` of `row`; nil when it is not about a timer.
    init?(_ record: LogRecord, _ row: LogRow) {
        event = ModelEvent(type: nil, progress: record.progress.withoutEdition, kicks: record.kicks)
        position = record.position
        isState = false
        switch record.content {
        case .event(let type, let reason, let fire):
            event.type = type
            event.reason = reason
            event.fire = fire
            event.stalledFor = record.stalledFor
            event.silentFor = record.silentFor
            event.owes = record.owesDelivery
            outcome = record.outcome
        case .snapshot, .kick: isState = true
        case .delivery(let detail, let carried):
            delivery = detail
            body = carried.map { Self.body(of: $0, row.data) }
        case .answer, .versionFloor, .mark, .condensed, .will, .drain, .importProgress, .key, .calendar,
            .deletedCalendar:
            return nil
        }
        if case .kick = record.content { return }
        let bytes = Array(row.data[record.definition])
        var text: [UInt8] = []
        Definition.appendID(bytes.span, to: &text)
        id = String(decoding: text, as: UTF8.self)
        if record.isWhole { definition = bytes }
    }

    /// The content that the receiver of the event `record` must get, in a row of `data`.
    static func body(of record: LogRecord, _ data: [UInt8]) -> [UInt8] {
        var type: EventType?
        if case .event(let told, _, _) = record.content { type = told }
        let bytes = data[record.definition]
        let prefix = bytes.prefix(Definition.prefixCount(Array(bytes).span) ?? 0)
        return ModelDelivery.body(record.position, type, record.progress, Array(prefix))
    }

    /// The records in `bytes` that are about timers.
    ///
    /// - Parameter first: the position of the first record in `bytes`; afterwards that of the record after the last.
    static func all(_ bytes: ArraySlice<UInt8>, first: inout Int64) throws -> [Recorded] {
        let base = TimeBase(now: Now(elapsed: 0, wallOffset: 0), boottime: 0, boot: Hash128(high: 0, low: 0))
        var found: [Recorded] = []
        for row in BatchRows.make(records: Array(bytes), first: first, previous: 0, epoch: 0, base: base) {
            try BatchRows.read(row) { record in
                first = record.position + 1
                if let recorded = Recorded(record, row) { found.append(recorded) }
                return true
            }
        }
        return found
    }
}
