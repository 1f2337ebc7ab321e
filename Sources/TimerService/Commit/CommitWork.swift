import TimerCore
import TimerLog

/// A row that is to take the place of those it spans.
struct RowReplacement {
    var row: LogRow
    /// Bytes of the data of those rows.
    var replaced: RowBytes
}

/// What the committer does at once: a batch to append, rows to delete, rows to put in the place of others.
struct CommitWork {
    /// Records, encoded, and the position of the first.
    var records: [UInt8] = []
    var first: Int64 = 0
    /// Records of kicks, which go into rows of their own, and the position of the first.
    var kicks: [UInt8] = []
    var firstKick: Int64 = 0
    /// Whether `records` is but one that says nothing.
    var isTickOnly = false
    /// The clocks when the batch was taken; nil when there is none.
    var base: TimeBase?
    /// Whether it is to be on disk at once, with all that waits for that.
    var syncs = true
    /// Whether its rows may be shown before they are on disk.
    var isShownEarly = false
    /// The mark among the records.
    var mark: HighWaterMark?
    /// Rows up to there are to go.
    var deletion: Int64?
    /// Rows that are to take the place of others.
    var replacements: [RowReplacement] = []

    init(records: [UInt8] = [], kicks: [UInt8] = []) {
        self.records = records
        self.kicks = kicks
    }

    /// The rows of the batch, behind the position `previous`; none without a batch.
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
}
