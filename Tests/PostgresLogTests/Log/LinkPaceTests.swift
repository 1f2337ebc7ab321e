import Testing

@testable import PostgresLog

struct LinkPaceTests {
    @Test func `pages grow while links are short, up to a bound`() {
        var pace = LinkPace()
        var asked: [Int] = []
        for _ in 0..<5 {
            asked.append(pace.rows)
            pace.note(rows: pace.rows, bytes: pace.rows * 300, span: Int64(pace.rows) * 1000, link: 3000)
        }
        #expect(asked == [1, 8, 64, 256, 256])
    }

    /// A page of the largest size has 256 rows: the fourth row looked for is just in it, or just not.
    @Test(arguments: [(64, 256), (65, 1)])
    func `one row is asked for where a page would hold few that are looked for`(_ passed: Int64, _ rows: Int) {
        var pace = LinkPace()
        for _ in 0..<4 { pace.note(rows: 64, bytes: 64 * 300, span: 64_000, link: passed * 1000) }
        #expect(pace.rows == rows)
    }

    @Test func `large rows leave fewer to a page`() {
        var pace = LinkPace()
        pace.note(rows: 1, bytes: 300 << 10, span: 1000, link: 1)
        #expect(pace.rows == 1)
        pace.note(rows: 1, bytes: 200 << 10, span: 1000, link: 1)
        #expect(pace.rows == 8)
    }

    @Test func `after a long link pages grow anew`() {
        var pace = LinkPace()
        for _ in 0..<4 { pace.note(rows: 256, bytes: 256, span: 256, link: 1) }
        pace.note(rows: 256, bytes: 256, span: 256, link: 1 << 30)
        #expect(pace.rows == 1)
        pace.note(rows: 1, bytes: 1, span: 1, link: 1)
        #expect(pace.rows == 8)
    }
}
