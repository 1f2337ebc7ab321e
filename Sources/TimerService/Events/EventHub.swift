import Platform
public import TimerLog

/// The newest rows of the log in memory, for streams that follow live; older ones are replayed from the store.
///
/// Rows come in log order, only once they may be shown: when they are durable, or with `--durability interval` once
/// none of their ids can be given again. Rows that are not on disk yet stay in memory.
public final class EventHub: Sendable {
    /// The bytes of data up to which rows are kept.
    static let capacityBytes = 16 << 20
    /// The bytes of data up to which rows are kept while no new ones come: by then every live stream has read them.
    static let restingBytes = 1 << 20

    private struct State {
        var rows: [LogRow] = []
        /// Index of the oldest row held.
        var first = 0
        var bytes = 0
        /// Position after which every row is held.
        var heldAfter: Int64
        var newest: Int64
        /// Position up to which rows are on disk.
        var durable: Int64
        var observers: [@Sendable () -> Void] = []

        /// Drops the oldest rows down to `limit` bytes, but neither the newest nor rows that are not on disk.
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

        /// Returns the index of the first row held that ends after `position`.
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

    /// Makes a hub with no rows, of a log that ends at `head`.
    init(head: Int64) { state = Guarded(State(heldAfter: head, newest: head, durable: head)) }

    /// Calls `observer` after each publication and whenever waiting answers may have been resolved. May be called
    /// on any thread.
    public func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(observer) } }

    /// Adds rows. All rows up to `position`, these and earlier ones, are on disk.
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

    /// Returns the row as streams need it: no stream shows kicks, so a row of kicks is held without them.
    private static func shown(_ row: LogRow) -> LogRow {
        guard BatchHeader.kind(of: row) == .kicks else { return row }
        return BatchRows.condense([row], restingOn: row.last) ?? row
    }

    /// Drops the oldest rows down to `restingBytes`.
    func shrink() { state.withLock { $0.drop(downTo: Self.restingBytes) } }

    /// Calls every observer.
    func notify() {
        for observer in state.withLock({ $0.observers }) { observer() }
    }

    /// Notes that the log was opened again and ends at `head`: rows of another writer before that are read from the
    /// store.
    ///
    /// - Parameter kept: the position after which published rows are lost.
    func reset(head: Int64, keeping kept: Int64) {
        state.withLock { state in
            while state.rows.count > state.first, let row = state.rows.last, row.last > kept {
                state.bytes -= row.data.count
                state.rows.removeLast()
            }
            // Streams that were shown lost rows go on after them.
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

    /// Returns the row that holds `position`; nil where it is not in memory.
    public func row(holding position: Int64) -> LogRow? {
        state.withLock { state in
            let index = state.index(after: position - 1)
            guard index < state.rows.count, state.rows[index].first <= position else { return nil }
            return state.rows[index]
        }
    }

    /// Whether a position was ever given to a record.
    public enum PositionState: Sendable, Equatable {
        /// A row holds the position or begins right after it, or no row has come so far yet.
        case given
        /// The position lies between two rows: the record that it was given to never came into this log.
        case lost
        /// The rows around the position are no longer in memory.
        case gone
    }

    /// Returns whether a row holds `position`, or begins right after it: a stream that goes further back begins at
    /// such a position.
    public func positionState(of position: Int64) -> PositionState {
        state.withLock { state in
            if position < state.heldAfter { return .gone }
            if position == state.heldAfter || position > state.newest { return .given }
            let index = state.index(after: position - 1)
            return index < state.rows.count && state.rows[index].first <= position + 1 ? .given : .lost
        }
    }

    /// The result of a search in memory for the row after a position.
    public enum Next: Sendable, Equatable {
        /// The first row that holds a later position.
        case row(LogRow)
        /// No row: `newest` is the newest position there is.
        case none(newest: Int64)
        /// The rows after the position are no longer all in memory.
        case gone
    }

    /// Returns the first row that ends after `position`.
    public func row(after position: Int64) -> Next {
        state.withLock { state in
            guard position >= state.heldAfter else { return .gone }
            let index = state.index(after: position)
            return index < state.rows.count ? .row(state.rows[index]) : .none(newest: state.newest)
        }
    }
}
