import Foundation
import Testing

@testable import Webhooks

/// 1994-11-06T08:49:37Z, the example of RFC 9110.
private let example: Int64 = 784_111_777_000

struct RetryAfterTests {
    @Test(arguments: [
        ("0", 0), ("1", 1000), ("120", 120_000), (" 5 ", 5000), ("007", 7000),
        ("99999999999999999999", 1_000_000_000_000),
    ])
    func `seconds are read`(text: String, expected: Int64) {
        #expect(RetryAfter.milliseconds(Array(text.utf8), nowMs: example) == expected)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "  Sun,  06 Nov 1994 08:49:37 GMT ",
    ])
    func `the three forms of a date are read`(text: String) {
        #expect(RetryAfter.milliseconds(Array(text.utf8), nowMs: example - 5250) == 5250)
        #expect(RetryAfter.milliseconds(Array(text.utf8), nowMs: example) == 0)
        #expect(RetryAfter.milliseconds(Array(text.utf8), nowMs: example + 1) == 0)
    }

    @Test func `two digits of a year are within fifty years ahead`() {
        let now: Int64 = 1_767_225_600_000  // 2026-01-01
        #expect(RetryAfter.date(["Monday,", "01-Jan-76", "00:00:00", "GMT"], nowMs: now) == 3_345_062_400_000)
        #expect(RetryAfter.date(["Monday,", "01-Jan-77", "00:00:00", "GMT"], nowMs: now) == 220_924_800_000)
        #expect(RetryAfter.date(["Monday,", "01-Jan-26", "00:00:00", "GMT"], nowMs: now) == now)
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1s", "0x10", "1 2", "١", "soon", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 94", "2026-01-01T00:00:00Z",
        String(repeating: "0", count: 65),
    ])
    func `anything else says nothing`(text: String) {
        #expect(RetryAfter.milliseconds(Array(text.utf8), nowMs: example) == nil)
    }

    @Test func `dates are those of Foundation's calendar`() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        var numbers = Numbers(state: 6)
        for _ in 0..<2000 {
            let day = Int64.random(in: 0..<2_932_896, using: &numbers)  // to 9999-12-30
            let date = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day) * 86_400))
            let found = CivilDays.since1970(
                year: Int64(date.year ?? 0), month: Int64(date.month ?? 0), day: Int64(date.day ?? 0))
            #expect(found == day)
            #expect(abs(CivilDays.year(ofDay: day) - Int64(date.year ?? 0)) <= 1)
        }
    }

    @Test func `any bytes are a wait that is not negative, or nothing`() {
        var numbers = Numbers(state: 7)
        let bases = [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "120",
        ]
        var read = 0
        for round in 0..<20_000 {
            let bytes = numbers.mutation(of: Array(bases[round % 4].utf8), alphabet: Array("0129 :-,GMTNov".utf8))
            guard let wait = RetryAfter.milliseconds(bytes, nowMs: example - 1) else { continue }
            read += 1
            #expect(wait >= 0)
        }
        #expect(read > 100)
    }
}

struct RetryPolicyTests {
    private static let middle: UInt64 = 1 << 63

    @Test func `waits double to an hour by default`() {
        let waits = (1...13).map { RetryPolicy.standard.backoffMs(attempt: $0, draw: Self.middle) }
        #expect(
            waits == [
                1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_024_000, 2_048_000,
                3_600_000,
            ])
    }

    @Test(arguments: [
        (1.0, 5, 100), (1.5, 3, 225), (10, 3, 10_000), (10, 100, 604_800_000), (2, 0, 100), (2, -5, 100),
    ])
    func `the multiplier is raised to the attempt before`(multiplier: Double, attempt: Int, expected: Int64) {
        let policy = RetryPolicy(initialMs: 100, multiplier: multiplier, maxMs: 604_800_000, jitter: 0)
        #expect(policy.backoffMs(attempt: attempt, draw: .max) == expected)
    }

    @Test func `jitter reaches from minus to plus its part`() {
        let policy = RetryPolicy(initialMs: 1000, multiplier: 2, maxMs: 4000, jitter: 0.2)
        #expect(policy.backoffMs(attempt: 1, draw: 0) == 800)
        #expect(policy.backoffMs(attempt: 1, draw: .max) == 1200)
        #expect(policy.backoffMs(attempt: 9, draw: 0) == 3200)
        #expect(policy.backoffMs(attempt: 9, draw: .max) == 4800)
        #expect(RetryPolicy(jitter: 1).backoffMs(attempt: 1, draw: 0) == 0)
    }

    @Test(
        arguments: [
            (0, 0, 1000), (-5, 0, 1000), (2500, 0, 2500), (2500, .max, 3000), (5000, 0, 5000), (.min, 0, 1000),
            (86_400_000, 0, 86_400_000), (.max, 0, 86_400_000), (.max, .max, 86_400_000),
        ] as [(Int64, UInt64, Int64)])
    func `the receiver's word counts between initial and a day, whatever max is`(
        asked: Int64, draw: UInt64, expected: Int64
    ) {
        let policy = RetryPolicy(initialMs: 1000, multiplier: 2, maxMs: 4000, jitter: 0.2)
        #expect(policy.retryAfterMs(asked, draw: draw) == expected)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e300])
    func `a policy that nobody checked gives a wait all the same`(number: Double) {
        for policy in [RetryPolicy(multiplier: number, maxMs: .max), RetryPolicy(maxMs: .max, jitter: number)] {
            for draw in [0, .max] as [UInt64] {
                #expect(policy.backoffMs(attempt: .max, draw: draw) >= 0)
                #expect(policy.retryAfterMs(.max, draw: draw) >= 0)
            }
        }
    }
}
