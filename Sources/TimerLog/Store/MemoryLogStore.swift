internal import Platform

/// The log in memory: for tests and for a server whose timers may die with it. What was appended is found again by
/// `open` of the same object.
public final class MemoryLogStore: LogStore, @unchecked Sendable {  // unchecked: touched only under `lock`
    private let lock = Lock()
    private var rows: [LogRow] = []
    private var head: StoreHead
    private var isOpen = false

    /// Makes an empty, closed store with a secret of its own.
    public init() {
        head = StoreHead(epoch: 0, last: 0, secret: SQLiteSchema.newSecret())
    }

    /// Opens; never throws.
    public func open() throws(StoreError) -> StoreHead {
        lock.withLock {
            isOpen = true
            return head
        }
    }

    /// Keeps `rows`. Never `unknown`.
    public func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        lock.lock()
        defer { lock.unlock() }
        guard isOpen else { return .absent(Self.notOpen) }
        if let refusal = AppendRules.refusal(rows, expecting: expecting, epoch: epoch, head: head) { return refusal }
        self.rows += rows
        head.last = rows.last?.last ?? head.last
        return .durable
    }

    /// As the protocol says; the newest row always stays.
    public func delete(upTo position: Int64) throws(StoreError) -> Int {
        lock.lock()
        defer { lock.unlock() }
        guard isOpen else { throw Self.notOpen }
        var bytes = 0
        var count = 0
        while count + 1 < rows.count, rows[count].last <= position {
            let size = rows[count].data.count
            guard count == 0 || bytes + size <= SQLiteLogStore.bytesADelete else { break }
            bytes += size
            count += 1
        }
        rows.removeFirst(count)
        return bytes
    }

    /// As the protocol says.
    public func replace(with replacements: [LogRow]) throws(StoreError) {
        lock.lock()
        defer { lock.unlock() }
        guard isOpen else { throw Self.notOpen }
        for row in replacements {
            guard let start = rows.firstIndex(where: { $0.first == row.first }),
                let end = rows[start...].firstIndex(where: { $0.last == row.last }), end < rows.count - 1
            else { throw StoreError(.damaged, "the rows at positions \(row.first)…\(row.last) are not there") }
            rows.replaceSubrange(start...end, with: [row])
        }
    }

    /// Makes a reader.
    public func makeReader() throws(StoreError) -> any LogReader { Reader(self) }

    /// Bytes of row data: what a device would hold at least.
    public func bytesOnDisk() -> Int {
        lock.withLock { rows.reduce(0) { $0 + $1.data.count } }
    }

    /// Closes; `open` finds everything again.
    public func close() {
        lock.withLock { isOpen = false }
    }

    /// Up to a bounded number of rows from the one that holds `position`, or the first after it.
    fileprivate func fetch(from position: Int64) throws(StoreError) -> [LogRow] {
        lock.lock()
        defer { lock.unlock() }
        guard isOpen else { throw Self.notOpen }
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].last < position { low = middle + 1 } else { high = middle }
        }
        return Array(rows[low...].prefix(RowQueries.rowsARead))
    }

    private static var notOpen: StoreError { StoreError(.io, "the log is not open") }

    private final class Reader: LogReader {
        private let store: MemoryLogStore

        init(_ store: MemoryLogStore) { self.store = store }

        func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
            var next = position
            while true {
                let batch = try store.fetch(from: next)
                for row in batch {
                    guard body(row), row.last < .max else { return }
                    next = row.last + 1
                }
                if batch.isEmpty { return }
            }
        }

        func row(holding position: Int64) throws(StoreError) -> LogRow? {
            try store.fetch(from: position).first { $0.first <= position }
        }
    }
}
