import TestSupport
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

    @Test func `any bytes are a wait that is not negative, or nothing`() {
        var numbers = SeededGenerator(seed: 7)
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
