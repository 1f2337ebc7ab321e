import Platform
public import TimerLog

/// The newest rows of the log in memory, for streams that follow live; older ones are replayed from the store.
///
/// Rows come in log order, only once they may be shown: when they are durable, or with `--durability interval` once no id of
/// them can be given again. Those that are not on disk yet stay in memory.
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
    /// Rows up to here are on disk.
    private var durable: Int64
    private var observers: [@Sendable () -> Void] = []

    /// Begins with nothing held after `head`.
    init(head: Int64) {
        heldAfter = head
        newest = head
        durable = head
    }

    /// Calls `observer` after each publication and whenever waiting answers may have been resolved. Any thread.
    public func observe(_ observer: @escaping @Sendable () -> Void) { lock.withLock { observers.append(observer) } }

    /// Adds rows. Those up to `position` are on disk, of them and of those added before.
    func publish(_ added: [LogRow], durableThrough position: Int64) {
        lock.withLock {
            durable = max(durable, position)
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

    /// Tells every observer.
    func notify() {
        for observer in lock.withLock({ observers }) { observer() }
    }

    /// Notes that the log was opened anew and ends at `head`: rows of others before it are read from the store.
    ///
    /// - Parameter kept: of what was published, rows after this position are lost.
    func reset(head: Int64, keeping kept: Int64) {
        lock.withLock {
            while rows.count > first, let row = rows.last, row.last > kept {
                bytes -= row.data.count
                rows.removeLast()
            }
            // Streams that were shown what is lost go on behind it.
            newest = max(newest, head)
            durable = max(durable, head)
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

    /// Whether a position was ever given to a record.
    public enum Standing: Sendable, Equatable {
        /// A row holds it.
        case given
        /// It lies between two rows: what was given it never came into this log.
        case lost
        /// Its rows are no longer in memory.
        case gone
    }

    /// Whether a row holds `position`, or begins right behind it: there a stream begins that comes from further back.
    public func standing(of position: Int64) -> Standing {
        lock.withLock {
            if position < heldAfter { return .gone }
            if position == heldAfter || position > newest { return .given }
            let index = index(after: position - 1)
            return index < rows.count && rows[index].first <= position + 1 ? .given : .lost
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
