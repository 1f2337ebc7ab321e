import Platform
public import TimerLog

/// The newest rows of the log in memory, for streams that follow live; older ones are replayed from the store.
///
/// Rows come in log order, only once they may be shown: when they are durable, or with `--durability interval` once no id of
/// them can be given again. Those that are not on disk yet stay in memory.
public final class EventHub: Sendable {
    /// Rows are kept up to this many bytes of data.
    static let capacityBytes = 16 << 20
    /// Rows are kept up to this many bytes while no new ones come: by then every live stream has read them.
    static let restingBytes = 1 << 20

    private struct State {
        var rows: [LogRow] = []
        /// Index of the oldest row held.
        var first = 0
        var bytes = 0
        /// Position after which every row is held.
        var heldAfter: Int64
        var newest: Int64
        /// Rows up to here are on disk.
        var durable: Int64
        var observers: [@Sendable () -> Void] = []

        /// Drops the oldest rows; the newest stays.
        mutating func drop(downTo limit: Int) {
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

        /// Index of the first row held that ends after `position`.
        func index(after position: Int64) -> Int {
            var low = first
            var high = rows.count
            while low < high {
                let middle = (low + high) / 2
                if rows[middle].last <= position { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    private let state: Guarded<State>

    /// Begins with nothing held after `head`.
    init(head: Int64) { state = Guarded(State(heldAfter: head, newest: head, durable: head)) }

    /// Calls `observer` after each publication and whenever waiting answers may have been resolved. Any thread.
    public func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(observer) } }

    /// Adds rows. Those up to `position` are on disk, of them and of those added before.
    func publish(_ added: [LogRow], durableThrough position: Int64) {
        state.withLock { state in
            state.durable = max(state.durable, position)
            for row in added.map(Self.shown) {
                state.rows.append(row)
                state.bytes += row.data.count
                state.newest = row.last
            }
            state.drop(downTo: Self.capacityBytes)
        }
    }

    /// The row as streams need it: no stream shows kicks, so they need not be held.
    private static func shown(_ row: LogRow) -> LogRow {
        guard BatchHeader.kind(of: row) == .kicks else { return row }
        return BatchRows.condense([row], restingOn: row.last) ?? row
    }

    /// Drops all but a few rows.
    func shrink() { state.withLock { $0.drop(downTo: Self.restingBytes) } }

    /// Tells every observer.
    func notify() {
        for observer in state.withLock({ $0.observers }) { observer() }
    }

    /// Notes that the log was opened anew and ends at `head`: rows of another writer before it are read from the store.
    ///
    /// - Parameter kept: of what was published, rows after this position are lost.
    func reset(head: Int64, keeping kept: Int64) {
        state.withLock { state in
            while state.rows.count > state.first, let row = state.rows.last, row.last > kept {
                state.bytes -= row.data.count
                state.rows.removeLast()
            }
            // Streams that were shown what is lost go on behind it.
            state.newest = max(state.newest, head)
            state.durable = max(state.durable, head)
            if state.rows.last?.last ?? state.heldAfter < head {
                state.rows.removeAll()
                state.first = 0
                state.bytes = 0
                state.heldAfter = head
            }
        }
    }

    /// Position of the newest row published.
    public var head: Int64 { state.withLock { $0.newest } }

    /// Position after which every row is in memory.
    public var floor: Int64 { state.withLock { $0.heldAfter } }

    /// Whether every row after `position` is in memory.
    public func holds(after position: Int64) -> Bool { position >= floor }

    /// The row that holds `position`, where it is in memory.
    public func row(holding position: Int64) -> LogRow? {
        state.withLock { state in
            let index = state.index(after: position - 1)
            guard index < state.rows.count, state.rows[index].first <= position else { return nil }
            return state.rows[index]
        }
    }

    /// Whether a position was ever given to a record.
    public enum Standing: Sendable, Equatable {
        /// A row holds it.
        case given
        /// It lies between two rows: the record that it was given to never came into this log.
        case lost
        /// Its rows are no longer in memory.
        case gone
    }

    /// Whether a row holds `position`, or begins right behind it: a stream that comes from further back begins there.
    public func standing(of position: Int64) -> Standing {
        state.withLock { state in
            if position < state.heldAfter { return .gone }
            if position == state.heldAfter || position > state.newest { return .given }
            let index = state.index(after: position - 1)
            return index < state.rows.count && state.rows[index].first <= position + 1 ? .given : .lost
        }
    }

    /// What memory has after a position.
    public enum Next: Sendable, Equatable {
        /// The first row that holds a later position.
        case row(LogRow)
        /// Nothing: `newest` is the newest position there is.
        case none(newest: Int64)
        /// Rows that are no longer in memory.
        case gone
    }

    /// The first row that ends after `position`.
    public func row(after position: Int64) -> Next {
        state.withLock { state in
            guard position >= state.heldAfter else { return .gone }
            let index = state.index(after: position)
            return index < state.rows.count ? .row(state.rows[index]) : .none(newest: state.newest)
        }
    }
}
