import TimerCore
import Webhooks

/// How an attempt ended.
struct AttemptEnd {
    var outcome: DeliveryOutcome
    /// The waiting time before the next attempt, in milliseconds.
    var retryAfter: Int64 = 0
    /// The receiver's command for the timer.
    var command: ReceiverCommand?
    /// Of a timer that is gone: the prefix of its definition.
    var definition: [UInt8] = []
    /// Of a timer that is gone: its last version.
    var version: Int64 = 0
    /// When the event was, where it is a fire; wall milliseconds.
    var firedAt: Int64?
    /// Where the attempt went; nil where no URL was found in the webhook.
    var url: String?
    /// From when on the delivery is too old for another attempt, wall milliseconds; nil for never.
    var expiresAt: Int64?
}

extension AttemptEnd {
    /// Judges how an attempt at a delivery ended.
    init(_ result: AttemptResult, delivery id: Int64, attempt: Int, _ retry: RetryPolicy) {
        self.init(outcome: DeliveryOutcome(.deliveryDead, delivery: id, attempt: attempt))
        let draw = AttemptJudge.draw(id: String(id), attempt: attempt)
        switch AttemptJudge.outcome(of: result, attempt: attempt, policy: retry, draw: draw) {
        case .delivered: outcome.type = .delivered
        case .retry(let milliseconds):
            outcome.type = .deliveryFailed
            retryAfter = milliseconds
        case .dead: outcome.reason = .attempts
        case .rejected: outcome.reason = .status
        case .stop: outcome.reason = .gone
        }
        if case .failed(let failure) = result { outcome.failure = failure }
    }

    /// The end of a delivery that was too old when an attempt was to begin, which is not made.
    init(aged attempt: DeliveryAttempt) {
        self.init(outcome: DeliveryOutcome(.deliveryDead, delivery: attempt.id, attempt: attempt.number - 1))
        outcome.reason = .age
    }

    /// Bounds the wait for the next attempt by the delivery's age at `now`, wall milliseconds: it is over when the
    /// delivery becomes too old, and one that is too old is dead.
    mutating func boundAge(_ now: Int64) {
        guard outcome.type == .deliveryFailed, let expiresAt else { return }
        if now >= expiresAt {
            (outcome.type, outcome.reason) = (.deliveryDead, .age)
        } else {
            retryAfter = min(retryAfter, expiresAt - now)
        }
    }
}
