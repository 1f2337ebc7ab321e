import Platform
public import TimerLog

/// The newest rows of the log in memory, for streams that follow live; older ones are replayed from the store.
///
/// Rows come in log order, only once they may be shown: when they are durable, or with `--durability interval` once
/// none of their ids can be given again. Rows that are not on disk yet stay in memory.
public final class EventHub: Sendable {
    private struct State {
        var recent: RecentRows
        /// Position of the newest row published.
        var newest: Int64
        /// Position up to which rows are on disk.
        var durable: Int64
        var observers: [@Sendable () -> Void] = []
    }

    private let state: Guarded<State>

    /// Makes a hub of a log that ends at `head`.
    ///
    /// - Parameter recent: the newest rows of the log, which are on disk; they count only if they end there.
    init(head: Int64, _ recent: RecentRows? = nil) {
        var held = RecentRows(after: head)
        if let recent, recent.end == head { held = recent }
        state = Guarded(State(recent: held, newest: head, durable: head))
    }

    /// Calls `observer` after each publication and whenever waiting answers may have been resolved. May be called
    /// on any thread.
    public func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(observer) } }

    /// Adds rows. All rows up to `position`, these and earlier ones, are on disk.
    func publish(_ added: [LogRow], durableThrough position: Int64) {
        state.withLock { state in
            state.durable = max(state.durable, position)
            for row in added {
                state.recent.append(row)
                state.newest = row.last
            }
            state.recent.drop(downTo: RecentRows.capacityBytes, durable: state.durable)
        }
    }

    /// Drops the oldest rows down to `RecentRows.restingBytes`.
    func shrink() {
        state.withLock { $0.recent.drop(downTo: RecentRows.restingBytes, durable: $0.durable) }
    }

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
            state.recent.drop(after: kept)
            // Streams that were shown lost rows go on after them.
            state.newest = max(state.newest, head)
            state.durable = max(state.durable, head)
            if state.recent.end < head { state.recent = RecentRows(after: head) }
        }
    }

    /// Position of the newest row published.
    public var head: Int64 { state.withLock { $0.newest } }

    /// Position after which every row is in memory.
    public var floor: Int64 { state.withLock { $0.recent.heldAfter } }

    /// Whether every row after `position` is in memory.
    public func holds(after position: Int64) -> Bool { position >= floor }

    /// Returns the row that holds `position`; nil where it is not in memory.
    public func row(holding position: Int64) -> LogRow? {
        state.withLock { state in
            guard let row = state.recent.row(after: position - 1), row.first <= position else { return nil }
            return row
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
            if position < state.recent.heldAfter { return .gone }
            if position == state.recent.heldAfter || position > state.newest { return .given }
            guard let row = state.recent.row(after: position - 1) else { return .lost }
            return row.first <= position + 1 ? .given : .lost
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
            guard position >= state.recent.heldAfter else { return .gone }
            return state.recent.row(after: position).map { .row($0) } ?? .none(newest: state.newest)
        }
    }
}
