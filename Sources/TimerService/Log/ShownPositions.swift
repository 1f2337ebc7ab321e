import TimerLog

/// The rows that a storage has lost though it had promised to keep them: those after one position through another.
public struct LostRows: Sendable, Equatable {
    /// Position of the newest record before those that were found to be missing.
    public var after: Int64
    /// Position of the newest record that was lost and had been shown.
    public var through: Int64
}

/// The positions that owners of a log may have shown to clients, as a standby knows them. The log has lost rows where it goes
/// on without one of them.
struct ShownPositions: Sendable {
    /// The most positions that are kept for rows to come, of which each beat of an owner adds one.
    private static let capacity = 4096

    /// The positions after the newest row that was met, in order.
    private var ahead: ArraySlice<Int64> = []
    /// The newest position that rows were met up to.
    private var met: Int64?
    /// The newest position that was found to be lost.
    private var lostThrough: Int64 = 0

    /// Notes that an owner of the log holds all records through `position`.
    mutating func note(_ position: Int64) {
        guard position > max(lostThrough, met ?? 0, ahead.last ?? 0) else { return }
        if ahead.count == Self.capacity { ahead.removeFirst() }
        ahead.append(position)
    }

    /// Meets a row of the log: the next one, or the first where the log is read from its start again.
    ///
    /// - Returns: what was lost between the row and the one before it.
    mutating func meet(_ row: LogRow) -> LostRows? {
        if ahead.isEmpty && met == nil { return nil }
        while let next = ahead.first, next < row.first {
            met = max(met ?? 0, next)
            ahead = ahead.dropFirst()
        }
        guard let newest = met, row.previous < newest, newest < row.first else { return nil }
        met = nil
        lostThrough = newest
        return LostRows(after: row.previous, through: newest)
    }
}
