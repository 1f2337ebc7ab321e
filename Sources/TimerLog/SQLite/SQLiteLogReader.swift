internal import Platform

/// Reads rows on a connection of its own, in short read transactions.
///
/// The buffers of rows that `body` did not keep are used again from one read to the next.
final class SQLiteLogReader: LogReader {
    private let slot: ReaderSlot
    private let gate: ReaderGate
    private var batch: [LogRow] = []

    init(_ slot: ReaderSlot, of gate: ReaderGate) {
        self.slot = slot
        self.gate = gate
    }

    deinit { gate.remove(slot) }

    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
        var next = position
        if let row = try row(holding: position) {
            guard body(row), row.first < .max else { return }
            next = row.first + 1
        }
        // A caller that wants one row stops after it, so only the second read is large.
        var limit = 1
        while true {
            try slot.use { queries throws(StoreError) in
                try queries.fetch(from: next, limit: limit, into: &batch)
            }
            // A copy of the references: `body` may read on this reader.
            let rows = batch
            for row in rows {
                guard body(row), row.first < .max else { return }
                next = row.first + 1
            }
            if rows.isEmpty { return }
            limit = StoreLimits.rowsARead
        }
    }

    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        let row = try slot.use { queries throws(StoreError) in try queries.row(before: position) }
        guard let row, row.last >= position else { return nil }
        return row
    }
}

/// A reader's connection, opened when it is needed. The store closes it before it opens the log again.
final class ReaderSlot: @unchecked Sendable {  // unchecked: a connection may be used by one thread after another
    private let queries = Guarded<RowQueries?>(nil)
    private let open: @Sendable () throws(StoreError) -> RowQueries

    /// Makes a closed slot; `open` opens its connection.
    init(_ open: @escaping @Sendable () throws(StoreError) -> RowQueries) {
        self.open = open
    }

    /// Runs `body` with the connection. After a failure the connection is closed, and the next use opens it again.
    func use<Result>(_ body: (RowQueries) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try queries.withLock { queries throws(StoreError) in
            do throws(StoreError) {
                if let queries { return try body(queries) }
                let opened = try open()
                queries = opened
                return try body(opened)
            } catch {
                queries = nil
                throw error
            }
        }
    }

    /// Closes the connection, after the use under way.
    func close() {
        queries.withLock { $0 = nil }
    }
}

/// The readers of a store, and whether they may read: no connection may be left while the store opens again.
final class ReaderGate: Sendable {
    private struct State {
        var isOpen = false
        var slots: [ObjectIdentifier: ReaderSlot] = [:]
    }

    private let state = Guarded(State())

    /// Makes a reader whose connection `open` opens, once it is used while the gate is open; else its reads throw
    /// `io`.
    func makeReader(_ open: @escaping @Sendable () throws(StoreError) -> RowQueries) -> SQLiteLogReader {
        let slot = ReaderSlot { [weak self] () throws(StoreError) in
            guard let self, self.state.withLock({ $0.isOpen }) else {
                throw StoreError(.io, "the log is not open")
            }
            return try open()
        }
        state.withLock { $0.slots[ObjectIdentifier(slot)] = slot }
        return SQLiteLogReader(slot, of: self)
    }

    /// Allows connections to be opened.
    func allow() {
        state.withLock { $0.isOpen = true }
    }

    /// Allows no connection to be opened, and closes those that are open.
    func closeAll() {
        // A slot in use holds its own lock and may ask for the gate's, so the gate's is not held while a slot is
        // closed.
        let all = state.withLock { state in
            state.isOpen = false
            return Array(state.slots.values)
        }
        for slot in all { slot.close() }
    }

    /// Forgets a reader, and closes its connection.
    func remove(_ slot: ReaderSlot) {
        state.withLock { $0.slots[ObjectIdentifier(slot)] = nil }
        slot.close()
    }
}
