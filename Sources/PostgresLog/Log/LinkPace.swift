/// How many rows a reader that follows links back asks for at once: a page, while links are so short that a page holds several
/// of the rows that they lead to, else the one row.
struct LinkPace {
    /// How many rows are asked for next.
    private(set) var rows = 1
    /// The number grows by this factor: where links get long again, one page was read in vain.
    private static let growth = 8
    /// A page is worth its bytes where so many of its rows are asked for.
    private static let leastFinds = 4

    /// Learns from a page how dense rows lie, where the next link leads from `position` to `next`.
    mutating func note(_ page: PostgresResult, from position: Int64, to next: Int64) {
        let count = page.count
        let bytes = (0..<count).reduce(0) { $0 + page.byteCount($1, 4) }
        note(rows: count, bytes: bytes, span: page.integer(0, 2) - page.integer(count - 1, 0), link: position - next)
    }

    /// As above, of a page of `rows` rows with `bytes` bytes and `span` positions.
    mutating func note(rows count: Int, bytes: Int, span: Int64, link: Int64) {
        // Rows lie about as dense before the page as in it.
        let passed = max(1, Double(link) * Double(count) / Double(max(1, span)))
        let room = min(PostgresLogReader.rowsAPage, PostgresLogReader.bytesAPage / max(1, bytes / count))
        let isWorth = passed * Double(Self.leastFinds) <= Double(room)
        rows = isWorth ? min(PostgresLogReader.rowsAPage, rows * Self.growth) : 1
    }
}
