import Testing
import TimerLog

struct ChainVerifierTests {
    @Test func `a chain may start anywhere and jump`() throws {
        var verifier = ChainVerifier()
        try verifier.check(LogRow(first: 101, last: 110, previous: 90, data: [1]))
        try verifier.check(LogRow(first: 111, last: 111, previous: 110, data: [1]))
        try verifier.check(LogRow(first: 1 << 40, last: 1 << 41, previous: 111, data: [1]))
        #expect(verifier.last == 1 << 41)
    }

    @Test(arguments: [
        LogRow(first: 111, last: 120, previous: 109, data: [1]),
        LogRow(first: 121, last: 130, previous: 120, data: [1]),
        LogRow(first: 110, last: 120, previous: 110, data: [1]),
        LogRow(first: 111, last: 110, previous: 110, data: [1]),
        LogRow(first: 111, last: 120, previous: 110, data: []),
    ])
    func `a row that can't follow is named`(_ row: LogRow) throws {
        var verifier = ChainVerifier()
        try verifier.check(LogRow(first: 101, last: 110, previous: 90, data: [1]))
        let error = #expect(throws: StoreError.self) { try verifier.check(row) }
        #expect(error?.kind == .damaged)
        #expect(error?.description.contains("position \(row.first) ") == true)
        #expect(verifier.last == 110)
    }

    @Test(arguments: [
        LogRow(first: 5, last: 4, previous: 0, data: [1]), LogRow(first: 5, last: 6, previous: 5, data: [1]),
        LogRow(first: 0, last: 6, previous: -1, data: [1]), LogRow(first: 1, last: 6, previous: 0, data: []),
    ])
    func `the first row is verified by itself`(_ row: LogRow) {
        var verifier = ChainVerifier()
        #expect(throws: StoreError.self) { try verifier.check(row) }
    }

    @Test func `a chain may be taken up in the middle`() throws {
        var verifier = ChainVerifier(after: 20)
        #expect(throws: StoreError.self) { try verifier.check(LogRow(first: 31, last: 40, previous: 30, data: [1])) }
        try verifier.check(LogRow(first: 31, last: 40, previous: 20, data: [1]))
    }
}
