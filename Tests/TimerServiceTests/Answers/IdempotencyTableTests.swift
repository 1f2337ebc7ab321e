import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct IdempotencyTableTests {
    private let day: Int64 = 86_400_000

    private func request(_ number: Int, body: UInt64 = 2) -> IdempotentRequest {
        IdempotentRequest(key: Hash128(high: 1, low: UInt64(number)), fingerprint: Hash128(high: 2, low: body))
    }

    private func place(
        _ number: Int, at wall: Int64, position: Int64, bytes: Int = 5, part: AnswerPart? = nil
    ) -> LogFold.AnswerPlace {
        let answer = StoredAnswer(
            request(number), answeredAt: wall, form: part.map { .part($0) } ?? .response,
            answer: [UInt8](repeating: 0, count: bytes))
        return LogFold.AnswerPlace(answer, position: position)
    }

    /// Forgets all that may be forgotten.
    private func expire(_ table: inout IdempotencyTable, _ wall: Int64) { while table.expire(wall) {} }

    @Test func `a request is fresh, under way, answered`() {
        var table = IdempotencyTable(maximum: 10)
        #expect(table.begin(request(1), at: 100) == .fresh)
        #expect(table.begin(request(1), at: 100) == .inProgress)
        #expect(table.begin(request(2), at: 100) == .fresh)
        table.note(place(1, at: 101, position: 77))
        #expect(table.begin(request(1), at: 102) == .answered([77]))
        #expect(table.holds(place(1, at: 101, position: 77)))
        #expect(!table.holds(place(1, at: 101, position: 76)))
        #expect(!table.holds(place(2, at: 101, position: 1)))
        #expect(table.count == 1)
    }

    @Test(arguments: [false, true])
    func `another request with the key is a mismatch`(_ isAnswered: Bool) {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(request(1), at: 100)
        if isAnswered { table.note(place(1, at: 101, position: 77)) }
        #expect(table.begin(request(1, body: 3), at: 102) == .mismatch)
    }

    @Test func `a key whose request failed is free again, an answered one is not`() {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(request(1), at: 100)
        table.release(request(1).key)
        #expect(table.begin(request(1), at: 100) == .fresh)
        table.note(place(1, at: 101, position: 77))
        table.release(request(1).key)
        #expect(table.begin(request(1), at: 102) == .answered([77]))
    }

    @Test func `an answer whose time was over ends no request that began since, where a log is folded anew`() {
        var table = IdempotencyTable(maximum: 10)
        table.note(place(1, at: 101, position: 77))
        let later = 101 + day + 1
        #expect(table.begin(request(1), at: later) == .fresh)
        var again = table.underWay()
        again.restore(place(1, at: 101, position: 77))
        #expect(again.begin(request(1), at: later) == .inProgress)
        again.note(place(1, at: later, position: 99))
        #expect(again.begin(request(1), at: later) == .answered([99]))
    }

    @Test func `a run whose parts are all lost is forgotten with its end`() {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(request(1), at: 100)
        table.note(place(1, at: 100, position: 7, part: part(7, 0)))
        var left = table.underWay()
        #expect(left.runUnderWay(of: request(1).key)?.parts == 0)
        left.release(request(1).key)
        #expect(left.begin(request(1), at: 101) == .fresh)
        #expect(left.runUnderWay(of: request(1).key)?.origin == 0)
    }

    @Test func `an answer that was forgotten ends no request that began since, where a log is folded anew`() {
        var table = IdempotencyTable(maximum: 1)
        table.note(place(1, at: 101, position: 77))
        table.note(place(2, at: 101, position: 78))
        #expect(table.begin(request(1), at: 102) == .fresh)
        var again = table.underWay()
        again.restore(place(1, at: 101, position: 77))
        again.restore(place(1, at: 101, position: 77, part: part(70, 0)))
        #expect(again.begin(request(1), at: 102) == .inProgress)
        again.release(request(1).key)
        #expect(again.begin(request(1), at: 102) == .fresh)
    }

    @Test(arguments: [(Int64(0), true), (1, false)])
    func `a key is kept for 24 hours`(_ beyond: Int64, _ isKept: Bool) {
        var table = IdempotencyTable(maximum: 10)
        table.note(place(1, at: 1000, position: 77))
        let verdict = table.begin(request(1), at: 1000 + day + beyond)
        #expect(verdict == (isKept ? .answered([77]) : .fresh))
        #expect(table.count == (isKept ? 1 : 0))
        #expect(table.answerBytes == (isKept ? 5 : 0))
    }

    @Test func `above the maximum the oldest go`() {
        var table = IdempotencyTable(maximum: 3)
        for number in 1...5 { table.note(place(number, at: Int64(number), position: Int64(number))) }
        #expect(table.count == 3)
        #expect(table.answerBytes == 15)
        for number in 1...2 { #expect(table.begin(request(number), at: 6) == .fresh) }
        for number in 3...5 {
            #expect(table.begin(request(number), at: 6) == .answered([Int64(number)]))
        }
    }

    @Test func `above the maximum of bytes the oldest go, and an answer that does not fit at all`() {
        var table = IdempotencyTable(maximum: 10, maximumBytes: 100)
        for number in 1...3 { table.note(place(number, at: 1000, position: Int64(number), bytes: 60)) }
        #expect(table.count == 1)
        #expect(table.begin(request(3), at: 1000) == .answered([3]))
        table.note(place(4, at: 1000, position: 4, bytes: 101))
        #expect(table.count == 0 && table.answerBytes == 0)
    }

    @Test func `an answer that was carried is found at its new place, once`() {
        var table = IdempotencyTable(maximum: 10)
        table.note(place(1, at: 1000, position: 77))
        table.note(place(1, at: 1000, position: 99))
        #expect(table.count == 1)
        #expect(table.answerBytes == 5)
        #expect(table.holds(place(1, at: 1000, position: 99)))
        #expect(table.begin(request(1), at: 1000 + day + 1) == .fresh)
        #expect(table.count == 0)
    }

    @Test func `a key that is used again after its time does not keep others`() {
        var table = IdempotencyTable(maximum: 10)
        table.note(place(1, at: 0, position: 1))
        table.note(place(2, at: 1000, position: 2))
        table.note(place(1, at: day + 500, position: 3))
        #expect(table.begin(request(2), at: day + 1001) == .fresh)
        #expect(table.begin(request(1), at: day + 1001) == .answered([3]))
        #expect(table.count == 1)
    }

    @Test func `many keys come and go`() {
        var table = IdempotencyTable(maximum: 20_000)
        for number in 0..<50_000 {
            #expect(table.begin(request(number), at: Int64(number)) == .fresh)
            table.note(place(number, at: Int64(number), position: Int64(number) + 1, bytes: number % 7))
        }
        #expect(table.count == 20_000)
        #expect(table.answerBytes == (30_000..<50_000).reduce(0) { $0 + $1 % 7 })
        for number in [30_000, 40_000, 49_999] {
            #expect(table.begin(request(number), at: 50_000) == .answered([Int64(number) + 1]))
        }
        #expect(table.begin(request(29_999), at: 50_000) == .fresh)
        #expect(table.begin(request(1), at: 3 * day) == .fresh)
        expire(&table, 3 * day)
        #expect(table.count == 0)
        #expect(table.answerBytes == 0)
    }

    @Test func `requests under way are all that is left when the log is folded anew`() {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(request(1), at: 1)
        table.note(place(2, at: 1, position: 2))
        var left = table.underWay()
        #expect(left.count == 0)
        #expect(left.answerBytes == 0)
        #expect(left.begin(request(1), at: 2) == .inProgress)
        #expect(left.begin(request(2), at: 2) == .fresh)
    }

    @Test func `a call forgets but a few, and what is over is not answered`() {
        var table = IdempotencyTable(maximum: .max)
        for number in 0..<10_000 { table.note(place(number, at: 0, position: Int64(number) + 1)) }
        #expect(table.begin(request(9_999, body: 3), at: day + 1) == .fresh)
        #expect(table.count >= 10_000 - IdempotencyTable.forgottenPerCall - 1)
        table.note(place(9_999, at: day + 1, position: 20_000))
        expire(&table, day + 1)
        #expect(table.count == 1)
        #expect(table.answerBytes == 5)
        #expect(table.begin(request(9_999), at: day + 1) == .answered([20_000]))
    }

    @Test func `above the bytes the oldest go`() {
        var table = IdempotencyTable(maximum: 1000, maximumBytes: 100)
        for number in 1...5 { table.note(place(number, at: 1, position: Int64(number), bytes: 30)) }
        #expect(table.count == 3)
        #expect(table.answerBytes == 90)
        table.note(place(6, at: 1, position: 6, bytes: 100))
        #expect(table.count == 1)
        #expect(table.begin(request(6), at: 1) == .answered([6]))
        table.note(place(7, at: 1, position: 7, bytes: 101))
        #expect(table.count == 0)
        #expect(table.answerBytes == 0)
    }

    private func part(_ origin: Int64, _ index: Int, isLast: Bool = false) -> AnswerPart {
        AnswerPart(origin: origin, index: index, isLast: isLast)
    }

    @Test func `a run that is cut goes on behind its parts`() throws {
        var table = IdempotencyTable(maximum: 10)
        #expect(table.begin(request(1), at: 100) == .fresh)
        #expect(try #require(table.runUnderWay(of: request(1).key)) == (100, 0, 0))
        table.note(place(1, at: 100, position: 7, part: part(0, 0)))
        table.note(place(1, at: 100, position: 9, part: part(7, 1)))
        #expect(try #require(table.runUnderWay(of: request(1).key)) == (100, 7, 2))
        #expect(table.begin(request(1), at: 101) == .inProgress)
        #expect(table.begin(request(1, body: 3), at: 101) == .mismatch)
        #expect(table.count == 0)
        table.release(request(1).key)
        #expect(table.count == 1)
        #expect(table.begin(request(1, body: 3), at: 102) == .mismatch)
        #expect(table.begin(request(1), at: 102) == .cut([7, 9]))
        #expect(table.begin(request(1), at: 102) == .inProgress)
        table.note(place(1, at: 100, position: 20, part: part(7, 2, isLast: true)))
        #expect(table.begin(request(1), at: 103) == .answered([7, 9, 20]))
        #expect(table.answerBytes == 15)
        #expect(table.count == 1)
        #expect(table.begin(request(1), at: 101 + day) == .fresh)
        #expect(table.answerBytes == 0)
    }

    @Test func `a part that says all that those before it say takes their place`() {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(request(1), at: 100)
        table.note(place(1, at: 100, position: 7, bytes: 4, part: part(0, 0)))
        table.note(place(1, at: 100, position: 9, bytes: 6, part: part(7, 0)))
        #expect(!table.holds(place(1, at: 100, position: 7, part: part(7, 0))))
        #expect(table.holds(place(1, at: 100, position: 9, part: part(7, 0))))
        #expect(table.answerBytes == 6)
        table.release(request(1).key)
        #expect(table.begin(request(1), at: 100) == .cut([9]))
        table.note(place(1, at: 100, position: 12, bytes: 6, part: part(7, 0, isLast: true)))
        #expect(table.begin(request(1), at: 100) == .answered([12]))
        #expect(table.answerBytes == 6)
    }

    @Test func `parts are found whatever the order in which compaction left them`() {
        var table = IdempotencyTable(maximum: 10)
        for (position, index) in [(Int64(20), 1), (30, 2), (40, 0)] {
            table.note(place(1, at: 100, position: position, part: part(10, index, isLast: index == 2)))
        }
        #expect(table.begin(request(1), at: 101) == .answered([40, 20, 30]))
        table.note(place(1, at: 100, position: 50, part: part(10, 1, isLast: false)))
        #expect(table.begin(request(1), at: 101) == .answered([40, 50, 30]))
        #expect(table.answerBytes == 15)
    }

    @Test func `parts whose beginning is gone say nothing, those of a later run take their place`() {
        var table = IdempotencyTable(maximum: 10)
        table.note(place(1, at: 100, position: 20, part: part(10, 1)))
        #expect(table.begin(request(1), at: 101) == .fresh)
        table.release(request(1).key)
        table.note(place(1, at: 100, position: 20, part: part(20, 0)))
        table.note(place(1, at: 100, position: 21, part: part(20, 1)))
        table.note(place(1, at: 200, position: 30, part: part(30, 0)))
        table.note(place(1, at: 100, position: 22, part: part(20, 2, isLast: true)))
        #expect(table.begin(request(1), at: 101 + day) == .cut([30]))
        #expect(table.answerBytes == 5)
    }

    @Test func `a cut run that goes on is not forgotten before its end`() {
        var table = IdempotencyTable(maximum: 1)
        table.note(place(1, at: 100, position: 7, part: part(7, 0)))
        #expect(table.begin(request(1), at: 100) == .cut([7]))
        for number in 2...5 { table.note(place(number, at: 100, position: Int64(number) + 10)) }
        #expect(table.count == 1)
        #expect(table.begin(request(1), at: 100) == .inProgress)
        table.note(place(1, at: 100, position: 21, part: part(7, 1, isLast: true)))
        #expect(table.begin(request(1), at: 100) == .answered([7, 21]))
        #expect(table.begin(request(5), at: 100) == .fresh)
    }

    @Test func `of a run under way its parts are found again when the log is folded anew`() {
        var table = IdempotencyTable(maximum: 10)
        _ = table.begin(request(1), at: 100)
        table.note(place(1, at: 100, position: 7, part: part(7, 0)))
        table.note(place(1, at: 100, position: 9, part: part(7, 1)))
        var left = table.underWay()
        #expect(left.answerBytes == 0)
        left.restore(place(1, at: 100, position: 7, part: part(7, 0)))
        #expect(left.begin(request(1), at: 100) == .inProgress)
        left.release(request(1).key)
        #expect(left.begin(request(1), at: 100) == .cut([7]))
    }
}
