import Platform
public import TimerLog

/// The newest rows of the log in memory, for streams that follow live; older ones are replayed from the store.
///
/// Rows come in log order, only once they are durable, so nothing is shown that could vanish.
public final class EventHub: @unchecked Sendable {  // unchecked: every `var` is guarded by `lock`
    /// Rows are kept up to this many bytes of data.
    static let capacityBytes = 16 << 20
    /// Rows are kept up to this many while no new ones come: who reads them has read them.
    static let restingBytes = 1 << 20

    private let lock = Lock()
    private var rows: [LogRow] = []
    private var first = 0
    private var bytes = 0
    /// Position after which every row is held.
    private var heldAfter: Int64
    private var newest: Int64
    private var observers: [@Sendable () -> Void] = []

    /// Begins with nothing held after `head`.
    init(head: Int64) {
        heldAfter = head
        newest = head
    }

    /// Calls `observer` after each publication and whenever waiting answers may have been resolved. Any thread.
    public func observe(_ observer: @escaping @Sendable () -> Void) { lock.withLock { observers.append(observer) } }

    /// Adds durable rows.
    func publish(_ added: [LogRow]) {
        lock.withLock {
            for row in added.map(Self.shown) {
                rows.append(row)
                bytes += row.data.count
                newest = row.last
            }
            drop(downTo: Self.capacityBytes)
        }
    }

    /// The row as streams need it: kicks stream to nobody and need not be held.
    private static func shown(_ row: LogRow) -> LogRow {
        guard BatchHeader.kind(of: row) == .kicks else { return row }
        return BatchRows.condense([row], restingOn: row.last) ?? row
    }

    /// Drops all but a few rows.
    func shrink() { lock.withLock { drop(downTo: Self.restingBytes) } }

    /// Drops the oldest rows; the newest stays. Called under the lock.
    private func drop(downTo limit: Int) {
        while bytes > limit && first < rows.count - 1 {
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

    /// Tells every observer.
    func notify() {
        for observer in lock.withLock({ observers }) { observer() }
    }

    /// Notes that the log was opened anew and ends at `head`: rows of others before it are read from the store.
    func reset(head: Int64) {
        lock.withLock {
            // What was published is on disk whatever happened since; only the end may have moved.
            newest = max(newest, head)
            if rows.last?.last ?? heldAfter < head {
                rows.removeAll()
                first = 0
                bytes = 0
                heldAfter = head
            }
        }
    }

    /// Position of the newest row published.
    public var head: Int64 { lock.withLock { newest } }

    /// Position after which every row is in memory.
    public var floor: Int64 { lock.withLock { heldAfter } }

    /// Whether every row after `position` is in memory.
    public func holds(after position: Int64) -> Bool { position >= floor }

    /// The row that holds `position`, where it is in memory.
    public func row(holding position: Int64) -> LogRow? {
        lock.withLock {
            let index = index(after: position - 1)
            guard index < rows.count, rows[index].first <= position else { return nil }
            return rows[index]
        }
    }

    /// The first row held that ends after `position`. Called under the lock.
    private func index(after position: Int64) -> Int {
        var low = first
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].last <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// What memory has behind a position.
    public enum Next: Sendable, Equatable {
        /// The first row that holds a later position.
        case row(LogRow)
        /// Nothing: everything up to `newest` is behind the asker.
        case none(newest: Int64)
        /// Rows that are no longer in memory.
        case gone
    }

    /// The first row that ends after `position`.
    public func row(after position: Int64) -> Next {
        lock.withLock {
            guard position >= heldAfter else { return .gone }
            let index = index(after: position)
            return index < rows.count ? .row(rows[index]) : .none(newest: newest)
        }
    }
}
