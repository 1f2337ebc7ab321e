import TimerCore
import TimerLog

/// The batch that an engine gives to the committer: the records to append, as they were when they were taken.
struct ReadyBatch {
    /// Records, encoded, and the position of the first.
    var records: [UInt8] = []
    var first: Int64 = 0
    /// Records of kicks, which go into rows of their own, and the position of the first.
    var kicks: [UInt8] = []
    var firstKick: Int64 = 0
    /// Whether `records` holds only one record, which says nothing new.
    var isTickOnly = false
    /// The clocks when the batch was taken; nil for an empty batch.
    var base: TimeBase?
    /// Whether the batch is to be on disk at once, with all rows that were made before.
    var syncs = true
    /// Whether the batch's rows may be shown before they are on disk.
    var isShownEarly = false
    /// The mark among the records.
    var mark: HighWaterMark?
    /// Requests that the batch is to answer.
    var requests = 0

    /// Returns the rows of the batch, which follow the position `previous`; none for an empty batch.
    func rows(after previous: Int64, epoch: Int64) -> [LogRow] {
        guard let base else { return [] }
        if isTickOnly {
            // The one record's position is right before the kicks', so that one row holds them all.
            return BatchRows.make(
                kind: .kicks, records: records + kicks, first: first, previous: previous, epoch: epoch, base: base)
        }
        let rows = BatchRows.make(records: records, first: first, previous: previous, epoch: epoch, base: base)
        return rows
            + BatchRows.make(
                kind: .kicks, records: kicks, first: firstKick, previous: rows.last?.last ?? previous, epoch: epoch,
                base: base)
    }

    /// Returns an empty batch with the memory of this one, whose rows are made: fresh memory would have to be
    /// zeroed.
    consuming func emptied() -> ReadyBatch {
        var empty = ReadyBatch()
        guard records.capacity <= Self.bufferKept, kicks.capacity <= Self.bufferKept else { return empty }
        swap(&empty.records, &records)
        swap(&empty.kicks, &kicks)
        empty.records.removeAll(keepingCapacity: true)
        empty.kicks.removeAll(keepingCapacity: true)
        return empty
    }

    /// Bytes above which a buffer is given back.
    private static let bufferKept = 8 << 20
}

/// The committer's demand on an engine from which it takes a batch.
struct CommitDemand {
    /// Whether rows that were made before are not on disk yet.
    var hasRows = false
    /// Whether rows that were made before are to be written now.
    var isDue = false
    /// Whether the service stops: nothing comes after this batch.
    var isLast = false
}

/// The committer's report to an engine about its records.
enum CommitOutcome {
    /// Everything up to the position may be shown, though it is not on disk.
    case shown(through: Int64)
    /// Everything up to the position is on disk, the mark too: so many records, by an append that took so many
    /// seconds (nil where that is not known).
    case durable(through: Int64, mark: HighWaterMark?, seconds: Double?, records: Int64)
    /// An append failed: no changes are taken.
    case failed
    /// Storage takes writes again.
    case recovered
}
