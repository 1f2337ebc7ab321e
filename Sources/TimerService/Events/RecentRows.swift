import Primitives
import TimerLog

/// The newest rows of the log, within a bound of bytes, as streams need them.
struct RecentRows {
    /// The bytes of data up to which rows are kept.
    static let capacityBytes = 16 << 20
    /// The bytes of data up to which rows are kept while no new ones come: by then every live stream has read them.
    static let restingBytes = 1 << 20

    private var rows: [LogRow] = []
    /// Index of the oldest row held.
    private var first = 0
    private var bytes = 0
    /// Position after which every row is held.
    private(set) var heldAfter: Int64

    /// Makes a window without rows: the next one begins after `position`.
    init(after position: Int64) { heldAfter = position }

    /// The newest row; nil for none.
    var newest: LogRow? { rows.count > first ? rows.last : nil }

    /// Position of the newest record that a row holds, or after which none is held.
    var end: Int64 { newest?.last ?? heldAfter }

    /// Adds the row after the newest one.
    mutating func append(_ row: LogRow) {
        let shown = Self.shown(row)
        rows.append(shown)
        bytes += shown.data.count
    }

    /// Returns the row as streams need it: no stream shows kicks, so a row of kicks is held without them.
    private static func shown(_ row: LogRow) -> LogRow {
        guard BatchHeader.kind(of: row) == .kicks else { return row }
        return BatchRows.condense([row], restingOn: row.last) ?? row
    }

    /// Drops the oldest rows down to `limit` bytes, but neither the newest nor rows after the position `durable`, which
    /// are not on disk.
    mutating func drop(downTo limit: Int, durable: Int64 = .max) {
        while bytes > limit && first < rows.count - 1 && rows[first].last <= durable {
            bytes -= rows[first].data.count
            heldAfter = rows[first].last
            rows[first].data = []
            first += 1
        }
        // The dropped head of the array is cut off once it is the larger half.
        if first > rows.count / 2 && first > 64 {
            rows.removeFirst(first)
            first = 0
        }
    }

    /// Drops the rows after `position`.
    mutating func drop(after position: Int64) {
        while let row = newest, row.last > position {
            bytes -= row.data.count
            rows.removeLast()
        }
    }

    /// Returns the first row that ends after `position`, where that is held; nil for none.
    func row(after position: Int64) -> LogRow? {
        let next = first + rows[first...].countPrefix { $0.last <= position }
        return next < rows.count ? rows[next] : nil
    }
}
