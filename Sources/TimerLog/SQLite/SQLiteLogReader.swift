internal import Platform

/// Reads rows on a connection of its own, in short read transactions.
///
/// Buffers are used again from one read to the next where `body` did not keep a row.
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
        // Who asked for one row only stops after it, so the second read is the first large one.
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
            limit = RowQueries.rowsARead
        }
    }

    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        let row = try slot.use { queries throws(StoreError) in try queries.row(before: position) }
        guard let row, row.last >= position else { return nil }
        return row
    }
}

/// A reader's connection, opened when it is needed and closed by the store when it opens anew.
final class ReaderSlot: @unchecked Sendable {  // unchecked: `queries` is touched only under `lock`
    private let lock = Lock()
    private let open: @Sendable () throws(StoreError) -> RowQueries
    private var queries: RowQueries?

    /// Makes a closed slot; `open` opens its connection.
    init(_ open: @escaping @Sendable () throws(StoreError) -> RowQueries) {
        self.open = open
    }

    /// Runs `body` with the connection. After a failure the connection is closed, the next use opens it anew.
    func use<Result>(_ body: (RowQueries) throws(StoreError) -> Result) throws(StoreError) -> Result {
        lock.lock()
        defer { lock.unlock() }
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

    /// Waits for the use under way, and closes.
    func close() {
        lock.withLock { queries = nil }
    }
}

/// Who reads a store, and whether they may: while the store opens anew, no connection may be left.
final class ReaderGate: @unchecked Sendable {  // unchecked: what changes is touched only under `lock`
    private let lock = Lock()
    private var isOpen = false
    private var slots: [ObjectIdentifier: ReaderSlot] = [:]

    /// Makes a reader whose connection is opened by `open`, while the gate is open.
    func makeReader(_ open: @escaping @Sendable () throws(StoreError) -> RowQueries) -> SQLiteLogReader {
        let slot = ReaderSlot { [weak self] () throws(StoreError) in
            guard let self, self.lock.withLock({ self.isOpen }) else {
                throw StoreError(.io, "the log is not open")
            }
            return try open()
        }
        lock.withLock { slots[ObjectIdentifier(slot)] = slot }
        return SQLiteLogReader(slot, of: self)
    }

    /// Lets connections be opened.
    func allow() {
        lock.withLock { isOpen = true }
    }

    /// Lets no connection be opened, and closes those that are.
    func closeAll() {
        // A slot in use holds its own lock and may ask for ours, so ours is free while we wait for it.
        let all = lock.withLock {
            isOpen = false
            return Array(slots.values)
        }
        for slot in all { slot.close() }
    }

    /// Forgets a reader, and closes its connection.
    func remove(_ slot: ReaderSlot) {
        lock.withLock { slots[ObjectIdentifier(slot)] = nil }
        slot.close()
    }
}
