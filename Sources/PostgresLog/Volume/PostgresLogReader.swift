internal import TimerLog

/// Reads rows in pages by their keys: no transaction is held from one page to the next, and a page is bounded in bytes.
final class PostgresLogReader: LogReader {
    /// Most rows of a page.
    private static let rowsAPage: Int32 = 256
    /// A page holds so many stored bytes and one row at most.
    private static let bytesAPage: Int64 = 1 << 20

    private let partition: Int
    private let storage: PostgresStorage
    /// Key before which no row is left; nil while the log may not be read.
    private let oldest: () -> Int64?

    init(_ partition: Int, in storage: PostgresStorage, oldest: @escaping () -> Int64?) {
        self.partition = partition
        self.storage = storage
        self.oldest = oldest
    }

    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
        var next = try start()
        let before = try page(LogStatements.rowBefore, [.int8(position)])
        if before.count == 1 {
            next = before.integer(0, 2)
            if before.integer(0, 0) >= 0, next >= position, try !body(row(before, 0)) { return }
        }
        while true {
            let rows = try page(LogStatements.page, [.int8(next), .int4(Self.rowsAPage), .int8(Self.bytesAPage)])
            for index in 0..<rows.count {
                next = rows.integer(index, 2)
                guard rows.integer(index, 0) >= 0 else { continue }
                guard try body(row(rows, index)), next < .max else { return }
            }
            if rows.count == 0 { return }
        }
    }

    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        _ = try start()
        let found = try page(LogStatements.rowBefore, [.int8(position)])
        guard found.count == 1, found.integer(0, 0) >= 0, found.integer(0, 1) <= position,
            found.integer(0, 2) >= position
        else { return nil }
        return try row(found, 0)
    }

    private func start() throws(StoreError) -> Int64 {
        guard let oldest = oldest() else { throw PostgresLogStore.notOpen }
        return oldest
    }

    private func page(_ statement: PostgresStatement, _ values: [PostgresValue]) throws(StoreError) -> PostgresResult {
        try storage.readers.read("reading the log of partition \(partition)") { connection throws(PostgresFailure) in
            try connection.run(statement, [.int4(Int32(partition))] + values, within: storage.timeouts.page)
        }
    }

    private func row(_ rows: PostgresResult, _ index: Int) throws(StoreError) -> LogRow {
        guard let data = unsafe rows.withBytes(index, 4, { bytes in unsafe RowCompression.data(bytes) }) else {
            let position = rows.integer(index, 1)
            throw StoreError(
                .damaged,
                "the row at position \(position) of partition \(partition) is damaged: its data can't be decompressed")
        }
        return LogRow(
            first: rows.integer(index, 1), last: rows.integer(index, 2),
            previous: LogEnd.shown(rows.integer(index, 0), in: partition), partition: Int32(partition),
            stride: storage.meta.layout.stride, epoch: rows.integer(index, 3), data: data)
    }
}
