internal import Platform

/// A reader's connection, opened when it is needed and closed by the store when that opens again.
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
