/// What a row is for.
public enum RowKind: UInt8, Sendable {
    /// Events, and what else is kept with them.
    case events = 0
    /// Kicks of watchdogs, which no stream shows: the row is condensed once later records stand for each.
    case kicks = 1
    /// Rows of kicks that are gone: one record that says so, whatever positions the row spans.
    case condensed = 2
}
