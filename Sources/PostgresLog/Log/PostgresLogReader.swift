internal import TimerLog

/// Reads rows in pages by their keys: no transaction is held from one page to the next, and a page is bounded in bytes.
final class PostgresLogReader: LogReader {
    /// The most rows of a page.
    static let rowsAPage = 256
    /// The most stored bytes of a page, which only its last row may exceed.
    static let bytesAPage = 1 << 20

    private let readers: ReaderLinks
    private let timeouts: PostgresTimeouts
    /// The key before which no row is left; nil while the log may not be read.
    private let oldest: () -> Int64?

    init(_ readers: ReaderLinks, _ timeouts: PostgresTimeouts, oldest: @escaping () -> Int64?) {
        self.readers = readers
        self.timeouts = timeouts
        self.oldest = oldest
    }

    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
        var next = try start()
        let before = try page(LogStatements.rowBefore, [.int8(position)])
        if before.count == 1 {
            next = before.integer(0, 2)
            if isRow(before, 0), next >= position, try !body(row(before, 0)) { return }
        }
        while true {
            let rows = try page(
                LogStatements.page, [.int8(next), .int4(Int32(Self.rowsAPage)), .int8(Int64(Self.bytesAPage))])
            for index in 0..<rows.count {
                next = rows.integer(index, 2)
                guard isRow(rows, index) else { continue }
                guard try body(row(rows, index)), next < .max else { return }
            }
            if rows.count == 0 { return }
        }
    }

    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        _ = try start()
        let found = try page(LogStatements.rowBefore, [.int8(position)])
        guard found.count == 1, holds(found, 0, position) else { return nil }
        return try row(found, 0)
    }

    func follow(
        from position: Int64, _ body: (LogRow) throws(StoreError) -> Int64?
    ) throws(StoreError) -> Int64? {
        var next = position
        var pace = LinkPace()
        while true {
            let key = max(0, try start())
            let rows = try page(
                LogStatements.pageBack,
                [.int8(key), .int8(next), .int4(Int32(pace.rows)), .int8(Int64(Self.bytesAPage))])
            var last: Int64?
            for index in 0..<rows.count {
                // The rows between two that are followed are not unpacked.
                guard rows.integer(index, 0) < next else { continue }
                guard holds(rows, index, next) else { return next }
                let found = try row(rows, index)
                guard let further = try body(found) else { return nil }
                next = further
                last = found.first
            }
            guard let last else { return next }
            pace.note(rows, from: last, to: next)
        }
    }

    /// Whether a row is one of the log: neither the one that was made with the tables, nor one of which the key
    /// alone is left.
    private func isRow(_ rows: PostgresResult, _ index: Int) -> Bool {
        rows.integer(index, 0) >= 0 && rows.byteCount(index, 4) > 0
    }

    private func holds(_ rows: PostgresResult, _ index: Int, _ position: Int64) -> Bool {
        isRow(rows, index) && rows.integer(index, 1) <= position && rows.integer(index, 2) >= position
    }

    private func row(_ rows: PostgresResult, _ index: Int) throws(StoreError) -> LogRow {
        let (first, last) = (rows.integer(index, 1), rows.integer(index, 2))
        guard let data = unsafe rows.withBytes(index, 4, { bytes in unsafe RowCompression.data(bytes) }) else {
            throw StoreError(.damaged, "the row at position \(first) is damaged: its data can't be decompressed")
        }
        return LogRow(
            first: first, last: last, previous: rows.integer(index, 0), epoch: rows.integer(index, 3), data: data)
    }

    private func start() throws(StoreError) -> Int64 {
        guard let oldest = oldest() else { throw PostgresLogStore.notOpen }
        return oldest
    }

    private func page(_ statement: PostgresStatement, _ values: [PostgresValue]) throws(StoreError) -> PostgresResult {
        try readers.read("reading the log") { connection throws(PostgresFailure) in
            try connection.run(statement, values, within: timeouts.page)
        }
    }
}

/// The number of rows that a reader which follows links back reads at once: a page, while links are so short that a
/// page holds several of the rows that they lead to, else one row.
struct LinkPace {
    /// The number of rows to read next.
    private(set) var rows = 1
    /// The factor by which the number grows: where links get long again, one page was read in vain.
    private static let growth = 8
    /// The least number of rows of a page that must be of use for the page to be worth its bytes.
    private static let leastFinds = 4

    /// Adapts the number to how dense the rows of `page` lie, and to the next link, from `position` to `next`.
    mutating func note(_ page: PostgresResult, from position: Int64, to next: Int64) {
        let count = page.count
        let bytes = (0..<count).reduce(0) { $0 + page.byteCount($1, 4) }
        note(rows: count, bytes: bytes, span: page.integer(0, 2) - page.integer(count - 1, 0), link: position - next)
    }

    /// Adapts the number to a page of `rows` rows with `bytes` bytes and `span` positions; the next link is `link`
    /// positions long.
    mutating func note(rows count: Int, bytes: Int, span: Int64, link: Int64) {
        // The rows before the page are taken to lie about as dense as those in it.
        let passed = max(1, Double(link) * Double(count) / Double(max(1, span)))
        let room = min(PostgresLogReader.rowsAPage, PostgresLogReader.bytesAPage / max(1, bytes / count))
        let isWorth = passed * Double(Self.leastFinds) <= Double(room)
        rows = isWorth ? min(PostgresLogReader.rowsAPage, rows * Self.growth) : 1
    }
}
