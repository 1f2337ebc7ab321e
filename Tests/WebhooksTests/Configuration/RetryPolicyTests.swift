import TestSupport
import Testing

@testable import Webhooks

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
    func `a policy that was not checked gives a wait all the same`(number: Double) {
        for policy in [RetryPolicy(multiplier: number, maxMs: .max), RetryPolicy(maxMs: .max, jitter: number)] {
            for draw in [0, .max] as [UInt64] {
                #expect(policy.backoffMs(attempt: .max, draw: draw) >= 0)
                #expect(policy.retryAfterMs(.max, draw: draw) >= 0)
            }
        }
    }
}
