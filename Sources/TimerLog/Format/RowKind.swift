/// What a row is for.
public enum RowKind: UInt8, Sendable {
    /// Events, and what else is kept with them.
    case events = 0
    /// Kicks of watchdogs, which no stream shows: the row is condensed once later records stand for each.
    case kicks = 1
    /// Rows of kicks that are gone: one record that says so, whatever positions the row spans.
    case condensed = 2
    /// What a writer begins an epoch with: one record, a floor of versions 0. Nothing else of the row counts: its time base is
    /// empty, and it is never condensed.
    case barrier = 3
}
