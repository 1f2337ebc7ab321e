import TimerAPI
import TimerCore

/// The records that wait to be written to the audit log, within a bound of memory.
///
/// Refusals, which anyone can cause, may fill half of the room. A record of a change that finds no room has all waiting
/// refusals dropped, and is dropped itself if there is none even then.
struct AuditQueue {
    private var records = FIFO<AuditRecord>()
    /// The bytes that the records may cost together, and those that they do.
    private let mostBytes: Int
    private var bytes = 0
    private var refusals = 0
    /// The number of records dropped since `take` reported it.
    private var dropped = 0
    /// The number of records dropped so far.
    private(set) var droppedInAll = 0

    /// Makes an empty queue for records that cost at most `mostBytes` together.
    init(mostBytes: Int) { self.mostBytes = mostBytes }

    /// The number of records that wait.
    var count: Int { records.count }

    /// Adds a record, or drops it.
    mutating func append(_ record: AuditRecord) {
        let cost = record.cost
        if record.isRefusal {
            guard bytes + cost <= mostBytes / 2 else { return noteDropped(1) }
            refusals += 1
        } else if bytes + cost > mostBytes {
            dropRefusals()
            guard bytes + cost <= mostBytes else { return noteDropped(1) }
        }
        bytes += cost
        records.append(record)
    }

    /// Removes the oldest records, at most `most`, and returns them with the number of records that were dropped since
    /// it was returned last.
    mutating func take(_ most: Int) -> (records: [AuditRecord], dropped: Int) {
        var taken: [AuditRecord] = []
        while taken.count < most, let record = records.popFirst() {
            bytes -= record.cost
            if record.isRefusal { refusals -= 1 }
            taken.append(record)
        }
        guard !taken.isEmpty else { return ([], 0) }
        defer { dropped = 0 }
        return (taken, dropped)
    }

    private mutating func dropRefusals() {
        guard refusals > 0 else { return }
        var kept = FIFO<AuditRecord>()
        while let record = records.popFirst() {
            if record.isRefusal { bytes -= record.cost } else { kept.append(record) }
        }
        records = kept
        noteDropped(refusals)
        refusals = 0
    }

    private mutating func noteDropped(_ count: Int) {
        dropped += count
        droppedInAll += count
    }
}
