/// The purpose of a row.
public enum RowKind: UInt8, Sendable {
    /// Events, and the records that are kept with them.
    case events = 0
    /// Kicks of watchdogs, which no stream shows: the row is condensed once later records replace each of them.
    case kicks = 1
    /// The place of removed rows of kicks: one record that says so, whatever positions the row spans.
    case condensed = 2
    /// The beginning of an epoch: one record, a floor of versions of 0. Nothing else of the row counts: its time
    /// base is empty, and it is never condensed.
    case barrier = 3
}
