import TimerLog

/// A row that is to take the place of those it spans.
struct RowReplacement {
    var row: LogRow
    /// Bytes of the data of the replaced rows.
    var replaced: RowBytes
}
