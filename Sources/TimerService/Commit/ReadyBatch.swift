import TimerCore
import TimerLog

/// The batch that an engine gives to the committer: the records to append, as they were when they were taken.
struct ReadyBatch {
    /// The records but those of kicks, and the position of the first.
    var records = RecordBuffers()
    var first: Int64 = 0
    /// Records of kicks, which go into rows of their own, and the position of the first.
    var kicks = RecordBuffers()
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
            var all = kicks
            all.prepend(records.open)
            return all.rows(kind: .kicks, first: first, previous: previous, epoch: epoch, base: base)
        }
        let rows = records.rows(first: first, previous: previous, epoch: epoch, base: base)
        return rows
            + kicks.rows(
                kind: .kicks, first: firstKick, previous: rows.last?.last ?? previous, epoch: epoch, base: base)
    }

    /// Returns an empty batch with the open buffers of this one, whose rows are made: fresh memory would have to be zeroed.
    consuming func emptied() -> ReadyBatch {
        var empty = ReadyBatch()
        swap(&empty.records, &records)
        swap(&empty.kicks, &kicks)
        empty.records.clear()
        empty.kicks.clear()
        return empty
    }
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
