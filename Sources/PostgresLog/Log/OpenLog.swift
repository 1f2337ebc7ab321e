/// The end of the log, as its writer knows it. An append and a deletion have to find it.
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

/// The state of the log, as its owner knows it.
struct OpenLog: Sendable {
    /// The end of the log; nil while it is not open.
    var end: LogEnd?
    /// Whether the outcome of the newest append is not known: nothing is appended before that is settled.
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
