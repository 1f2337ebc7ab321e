import Testing

@testable import PeerHTTP

struct RequestTransitTests {
    private var transit = RequestTransit()

    private mutating func isLate(_ lag: Int64, at now: Int64) -> Bool {
        transit.isLate(lag: lag, at: now, longest: 2000)
    }

    @Test mutating func `a request is late that took longer than the quickest one by more than the limit`() {
        #expect(!isLate(500, at: 0) && !isLate(2500, at: 10) && isLate(2501, at: 20))
        #expect(!isLate(-700, at: 30) && isLate(1301, at: 40) && !isLate(1300, at: 50))
    }

    @Test mutating func `what was held up together is late together, and the next request is not`() {
        #expect(!isLate(0, at: 0))
        for number in 0..<100 { #expect(isLate(5000 - Int64(number), at: 60_000)) }
        #expect(!isLate(0, at: 60_100))
        // A quick request was among those of the second after the first late one.
        #expect(isLate(2001, at: 70_000))
    }

    @Test mutating func `where clocks have drifted, requests are late for a second`() {
        #expect(!isLate(0, at: 0))
        #expect(isLate(2001, at: 40_000_000) && isLate(2001, at: 40_001_000))
        #expect(!isLate(2002, at: 40_001_001) && !isLate(4001, at: 40_002_000) && isLate(4002, at: 40_003_000))
    }
}
