import Testing
import TimerCore

@testable import Webhooks

private let policy = RetryPolicy(maxAttempts: 3, initialMs: 100, multiplier: 2, maxMs: 1000, jitter: 0)

struct AttemptJudgeTests {
    private func outcome(_ status: Int, retryAfterMs: Int64? = nil, attempt: Int = 1) -> AttemptOutcome {
        AttemptJudge.outcome(
            of: .answered(status: status, retryAfterMs: retryAfterMs), attempt: attempt, policy: policy, draw: 0)
    }

    @Test(arguments: [200, 201, 202, 204, 299])
    func `2xx delivers, in the last attempt too`(status: Int) {
        #expect(outcome(status, retryAfterMs: 500) == .delivered)
        #expect(outcome(status, attempt: 3) == .delivered)
    }

    @Test func `410 stops, in the last attempt too`() {
        #expect(outcome(410, retryAfterMs: 500) == .stop)
        #expect(outcome(410, attempt: 3) == .stop)
    }

    @Test(arguments: [429, 503])
    func `429 and 503 say when`(status: Int) {
        #expect(outcome(status, retryAfterMs: 300) == .retry(afterMs: 300))
        #expect(outcome(status, retryAfterMs: 0) == .retry(afterMs: 100))
        #expect(outcome(status, retryAfterMs: 86_400_000) == .retry(afterMs: 86_400_000))
        #expect(outcome(status, attempt: 2) == .retry(afterMs: 200))
        #expect(outcome(status, retryAfterMs: 300, attempt: 3) == .dead)
    }

    @Test(arguments: [
        0, 100, 103, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 408, 409, 411, 428, 430, 500, 502, 504, 599, 999,
        -1,
    ])
    func `anything else is tried again until attempts are out`(status: Int) {
        #expect(outcome(status, retryAfterMs: 300) == .retry(afterMs: 100))
        #expect(outcome(status, attempt: 2) == .retry(afterMs: 200))
        #expect(outcome(status, attempt: 3) == .dead)
    }

    private func outcome(_ status: Int, giveUpOn: [FinalStatuses.Entry]) -> AttemptOutcome {
        var policy = policy
        policy.giveUpOn = FinalStatuses(giveUpOn)
        return AttemptJudge.outcome(
            of: .answered(status: status, retryAfterMs: 300), attempt: 1, policy: policy, draw: 0)
    }

    @Test(arguments: [400, 401, 404, 418, 422, 499])
    func `4xx ends a delivery at once`(status: Int) {
        #expect(outcome(status, giveUpOn: [.clientErrors]) == .rejected)
        #expect(outcome(status, giveUpOn: [.status(500)]) == .retry(afterMs: 100))
    }

    @Test func `4xx leaves out what asks for another attempt, unless it is named too`() {
        for status in [408, 425] { #expect(outcome(status, giveUpOn: [.clientErrors]) == .retry(afterMs: 100)) }
        #expect(outcome(429, giveUpOn: [.clientErrors]) == .retry(afterMs: 300))
        for status in [408, 425, 429] {
            #expect(outcome(status, giveUpOn: [.clientErrors, .status(status)]) == .rejected)
        }
    }

    @Test func `a status that ends a delivery beats when the receiver asks to come again`() {
        #expect(outcome(503, giveUpOn: [.status(503)]) == .rejected)
        #expect(outcome(302, giveUpOn: [.status(302)]) == .rejected)
        #expect(outcome(410, giveUpOn: [.clientErrors]) == .stop)
        #expect(outcome(200, giveUpOn: [.clientErrors]) == .delivered)
    }

    @Test(arguments: DeliveryFailure.allCases)
    func `no answer is tried again until attempts are out`(failure: DeliveryFailure) {
        #expect(
            AttemptJudge.outcome(of: .failed(failure), attempt: 2, policy: policy, draw: 0) == .retry(afterMs: 200))
        #expect(AttemptJudge.outcome(of: .failed(failure), attempt: 3, policy: policy, draw: 0) == .dead)
    }

    @Test func `draws are stable and evenly spread`() {
        // The value is that of another implementation: a restart and a new version keep a delivery's waits.
        #expect(AttemptJudge.draw(id: "dlv_1", attempt: 1) == 0xA7D011961DCB3D3A)
        var tenths = Array(repeating: 0, count: 10)
        for delivery in 0..<1000 {
            for attempt in 1...10 {
                let draw = AttemptJudge.draw(id: "dlv_\(delivery)", attempt: attempt)
                tenths[Int(((draw >> 11) * 10) >> 53)] += 1
            }
        }
        #expect(tenths.allSatisfy { (850...1150).contains($0) })
    }

    @Test func `fewer attempts by a changed policy end a delivery at its next failure`() {
        #expect(AttemptJudge.outcome(of: .failed(.refused), attempt: 7, policy: policy, draw: 0) == .dead)
    }
}
