import TimerCore
import TimerLog

/// The place in the log where the kept events begin: rows up to there are outside, later ones inside. Confined to
/// the compactor's thread.
///
/// The boundary reads some of the oldest rows inside at once and keeps them. The log is read again only when all of
/// these are outside, or when none was found and it has grown since: an idle log is not read at all.
final class EventBoundary {
    /// The parts of a row that count.
    private struct Row {
        var last: Int64
        /// Wall milliseconds at which the row, or one before it, was closed: they never fall from row to row.
        var closed: Int64
        /// Bytes of events; 0 for other rows.
        var bytes: Int
    }

    private let log: ActiveLog
    /// Position up to which rows are outside.
    private(set) var through: Int64 = 0
    /// Bytes of events in rows that are outside and not yet compacted.
    private(set) var outsideBytes = 0
    /// The oldest rows inside, as far as they were read.
    private var ahead: ArraySlice<Row> = []
    /// The end of the log when no row inside but the newest was found.
    private var exhaustedAt: Int64?
    /// Wall milliseconds at which the row read last was closed.
    private var closed = Int64.min

    init(_ log: ActiveLog) { self.log = log }

    /// Bytes of the events inside.
    var insideBytes: Int { log.trim.bytes.events - outsideBytes }

    /// Reads up to `count` rows ahead if none is left and the log has grown since there was none. The newest row of
    /// the log is never outside.
    func look(_ reader: any LogReader, rows count: Int) throws(StoreError) {
        let head = log.engine.durableHead
        guard ahead.isEmpty, head != exhaustedAt else { return }
        var found: ArraySlice<Row> = []
        var newest = closed
        try reader.read(from: through + 1) { row in
            guard found.count < count, row.last < head, let header = BatchHeader(row.data.span) else { return false }
            // A barrier has no time base, but its position is by the calendar.
            let isBarrier = header.kind == .barrier
            newest = max(newest, isBarrier ? CalendarPosition.milliseconds(at: row.last) : header.base.now.wall)
            found.append(Row(last: row.last, closed: newest, bytes: header.kind == .events ? row.data.count : 0))
            return true
        }
        (ahead, closed) = (found, newest)
        exhaustedAt = found.isEmpty ? head : nil
    }

    /// Moves to the first row that was closed at `instant`, in wall milliseconds, or later and from which on the
    /// events have at most `bytes`. Returns whether further rows, not yet read, may be outside too.
    func move(to instant: Int64, keeping bytes: Int) -> Bool {
        var inside = insideBytes
        var hasMoved = false
        while let row = ahead.first, row.closed < instant || inside > bytes {
            ahead.removeFirst()
            through = row.last
            outsideBytes += row.bytes
            inside -= row.bytes
            hasMoved = true
        }
        guard hasMoved else { return false }
        log.trim.expire(through: through)
        return ahead.isEmpty
    }

    /// Notes that rows outside, with so many bytes of events, are compacted.
    func compacted(bytes: Int) { outsideBytes -= bytes }
}
