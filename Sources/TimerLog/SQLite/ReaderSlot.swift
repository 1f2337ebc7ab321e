internal import Platform

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
