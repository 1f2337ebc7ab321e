/// Where the log ends, as its writer knows: what an append and a deletion have to find.
///
/// A log without records ends in a row at position 0, which its tables were made with and no reader is given.
struct LogEnd: Equatable, Sendable {
    /// The epoch that the writer holds.
    var epoch: Int64
    /// Key of the newest row: its `previous`.
    var tail: Int64
    /// Position of the newest record.
    var last: Int64
}

/// What the owner knows of the log.
struct OpenLog: Sendable {
    /// Where the log ends; nil while it is not open.
    var end: LogEnd?
    /// What became of the newest append is not known: nothing is appended before that is settled.
    var isUnsettled = false
    /// Key from which on the rows that are left begin.
    var oldest: Int64 = -1
    /// Keys before that which stay taken, of rows without data.
    var heldKeys: [HeldKey] = []

    /// Another session owns the log.
    mutating func fence() {
        end = nil
        isUnsettled = false
    }
}
