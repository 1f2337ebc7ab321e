internal import Platform
internal import TimerLog

/// The state of the log, as its owner knows it.
struct OpenLog: Sendable {
    /// The end of the log; nil while it is not open.
    var end: LogEnd?
    /// Whether the outcome of the newest append is unknown: nothing is appended before that is settled.
    var isUnsettled = false
    /// The key at which the remaining rows begin.
    var oldest: Int64 = -1
    /// The keys before `oldest` that stay taken, of rows without data.
    var heldKeys: [HeldKey] = []

    /// Closes the log, as another session owns it.
    mutating func fence() {
        end = nil
        isUnsettled = false
    }
}

/// The end of the log, as its writer knows it. An append or a deletion takes effect only where the log ends so.
///
/// A log without records ends in a row at position 0, which was made with the tables and is given to no reader.
struct LogEnd: Equatable, Sendable {
    /// The epoch that the writer holds.
    var epoch: Int64
    /// Key of the newest row: its `previous`.
    var tail: Int64
    /// Position of the newest record.
    var last: Int64
}

/// The key of a row that begins an epoch. It stays taken for a while, even without the row's data: a stalled append
/// of the epoch before would take this very key.
struct HeldKey {
    /// How long the key stays taken, in milliseconds.
    private static let lifetimeMs: Int64 = 600_000

    /// The row's `previous`.
    let key: Int64
    /// The row's position, which shows when the row was written: see `CalendarPosition`.
    let position: Int64

    /// Whether a stalled append may still take the key.
    var isNeeded: Bool {
        Clocks.realtime() / 1_000_000 - CalendarPosition.milliseconds(at: position) < Self.lifetimeMs
    }
}
