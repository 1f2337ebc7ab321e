import Testing
import TimerLog

@testable import TimerService

struct IdempotencyTableTests {
    private func key(_ number: Int) -> Hash128 { Hash128(high: 1, low: UInt64(number)) }
    private let body = Hash128(high: 2, low: 2)
    private let day: Int64 = 86_400_000

    private func place(_ number: Int, at wall: Int64, position: Int64, bytes: Int = 5) -> LogFold.AnswerPlace {
        LogFold.AnswerPlace(
            key: key(number), fingerprint: body, answeredAt: wall, position: position, byteCount: bytes)
    }

    @Test func `a request is fresh, under way, answered`() {
        var table = IdempotencyTable(maximum: 10)
        #expect(table.begin(key(1), fingerprint: body, at: 100) == .fresh)
        #expect(table.begin(key(1), fingerprint: body, at: 100) == .inProgress)
        #expect(table.begin(key(2), fingerprint: body, at: 100) == .fresh)
        table.complete(place(1, at: 101, position: 77))
        #expect(table.begin(key(1), fingerprint: body, at: 102) == .answered(77))
        #expect(table.holds(key(1), at: 77))
        #expect(!table.holds(key(1), at: 76))
        #expect(!table.holds(key(2), at: 0 + 1))
        #expect(table.count == 1)
    }

    @Test(arguments: [false, true])
    func `another request with the key is a mismatch`(_ isAnswered: Bool) {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(key(1), fingerprint: body, at: 100)
        if isAnswered { table.complete(place(1, at: 101, position: 77)) }
        #expect(table.begin(key(1), fingerprint: key(3), at: 102) == .mismatch)
    }

    @Test func `a key whose request failed is free again, an answered one is not`() {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(key(1), fingerprint: body, at: 100)
        table.abandon(key(1))
        #expect(table.begin(key(1), fingerprint: body, at: 100) == .fresh)
        table.complete(place(1, at: 101, position: 77))
        table.abandon(key(1))
        #expect(table.begin(key(1), fingerprint: body, at: 102) == .answered(77))
    }

    @Test(arguments: [(Int64(0), true), (1, false)])
    func `a key is kept for 24 hours`(_ beyond: Int64, _ isKept: Bool) {
        var table = IdempotencyTable(maximum: 10)
        table.complete(place(1, at: 1000, position: 77))
        let verdict = table.begin(key(1), fingerprint: body, at: 1000 + day + beyond)
        #expect(verdict == (isKept ? .answered(77) : .fresh))
        #expect(table.count == (isKept ? 1 : 0))
        #expect(table.answerBytes == (isKept ? 5 : 0))
    }

    @Test func `above the maximum the oldest go`() {
        var table = IdempotencyTable(maximum: 3)
        for number in 1...5 { table.complete(place(number, at: Int64(number), position: Int64(number))) }
        #expect(table.count == 3)
        #expect(table.answerBytes == 15)
        for number in 1...2 { #expect(table.begin(key(number), fingerprint: body, at: 6) == .fresh) }
        for number in 3...5 {
            #expect(table.begin(key(number), fingerprint: body, at: 6) == .answered(Int64(number)))
        }
    }

    @Test func `an answer that was carried is found at its new place, once`() {
        var table = IdempotencyTable(maximum: 10)
        table.complete(place(1, at: 1000, position: 77))
        table.complete(place(1, at: 1000, position: 99))
        #expect(table.count == 1)
        #expect(table.answerBytes == 5)
        #expect(table.holds(key(1), at: 99))
        #expect(table.begin(key(1), fingerprint: body, at: 1000 + day + 1) == .fresh)
        #expect(table.count == 0)
    }

    @Test func `a key that is used again after its time does not keep others`() {
        var table = IdempotencyTable(maximum: 10)
        table.complete(place(1, at: 0, position: 1))
        table.complete(place(2, at: 1000, position: 2))
        table.complete(place(1, at: day + 500, position: 3))
        #expect(table.begin(key(2), fingerprint: body, at: day + 1001) == .fresh)
        #expect(table.begin(key(1), fingerprint: body, at: day + 1001) == .answered(3))
        #expect(table.count == 1)
    }

    @Test func `many keys come and go`() {
        var table = IdempotencyTable(maximum: 20_000)
        for number in 0..<50_000 {
            #expect(table.begin(key(number), fingerprint: body, at: Int64(number)) == .fresh)
            table.complete(place(number, at: Int64(number), position: Int64(number) + 1, bytes: number % 7))
        }
        #expect(table.count == 20_000)
        #expect(table.answerBytes == (30_000..<50_000).reduce(0) { $0 + $1 % 7 })
        for number in [30_000, 40_000, 49_999] {
            #expect(table.begin(key(number), fingerprint: body, at: 50_000) == .answered(Int64(number) + 1))
        }
        #expect(table.begin(key(29_999), fingerprint: body, at: 50_000) == .fresh)
        #expect(table.begin(key(1), fingerprint: body, at: 3 * day) == .fresh)
        #expect(table.count == 0)
        #expect(table.answerBytes == 0)
    }

    @Test func `requests under way are all that is left when the log is folded anew`() {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(key(1), fingerprint: body, at: 1)
        table.complete(place(2, at: 1, position: 2))
        var left = table.underWay()
        #expect(left.count == 0)
        #expect(left.answerBytes == 0)
        #expect(left.begin(key(1), fingerprint: body, at: 2) == .inProgress)
        #expect(left.begin(key(2), fingerprint: body, at: 2) == .fresh)
    }
}
