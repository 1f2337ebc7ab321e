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
