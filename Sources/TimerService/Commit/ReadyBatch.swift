import TimerCore
import TimerLog

/// What an engine hands to the committer: the records to append, as they were when they were taken.
struct ReadyBatch {
    /// Records, encoded, and the position of the first.
    var records: [UInt8] = []
    var first: Int64 = 0
    /// Records of kicks, which go into rows of their own, and the position of the first.
    var kicks: [UInt8] = []
    var firstKick: Int64 = 0
    /// Whether `records` holds but one record, which says nothing new.
    var isTickOnly = false
    /// The clocks when the batch was taken; nil when there is none.
    var base: TimeBase?
    /// Whether it is to be on disk at once, with all rows that were made before.
    var syncs = true
    /// Whether its rows may be shown before they are on disk.
    var isShownEarly = false
    /// The mark among the records.
    var mark: HighWaterMark?
    /// Requests that it is to answer.
    var requests = 0

    /// The rows of the batch, after the position `previous`; none without a batch.
    func rows(after previous: Int64, epoch: Int64) -> [LogRow] {
        guard let base else { return [] }
        if isTickOnly {
            // Its position is the one before the kicks'.
            return BatchRows.make(
                kind: .kicks, records: records + kicks, first: first, previous: previous, epoch: epoch, base: base)
        }
        let rows = BatchRows.make(records: records, first: first, previous: previous, epoch: epoch, base: base)
        return rows
            + BatchRows.make(
                kind: .kicks, records: kicks, first: firstKick, previous: rows.last?.last ?? previous, epoch: epoch,
                base: base)
    }

    /// An empty batch with the memory of this one, which is on disk: fresh memory costs its zeroing.
    consuming func emptied() -> ReadyBatch {
        var empty = ReadyBatch()
        guard records.capacity <= Self.bufferKept, kicks.capacity <= Self.bufferKept else { return empty }
        swap(&empty.records, &records)
        swap(&empty.kicks, &kicks)
        empty.records.removeAll(keepingCapacity: true)
        empty.kicks.removeAll(keepingCapacity: true)
        return empty
    }

    /// A buffer that grew larger than this is given back.
    private static let bufferKept = 8 << 20
}

/// What the committer asks of an engine that it takes a batch of.
struct CommitDemand {
    /// Whether rows that were made before are not on disk yet.
    var hasRows = false
    /// Whether those are to be written now.
    var isDue = false
    /// Whether the service stops: nothing comes after this batch.
    var isLast = false
}

/// What the committer tells an engine of what became of its records.
enum CommitOutcome {
    /// Everything up to the position may be shown, though it is not on disk.
    case shown(through: Int64)
    /// Everything up to the position is on disk, the mark too: so many records, by an append of so many seconds, where that
    /// is known.
    case durable(through: Int64, mark: HighWaterMark?, seconds: Double?, records: Int64)
    /// An append failed: no changes are taken.
    case failed
    /// Storage takes writes again.
    case recovered
}
