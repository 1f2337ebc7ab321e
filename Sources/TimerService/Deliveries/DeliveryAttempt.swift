import TimerCore
import Webhooks

/// An attempt that may be made, with what its request needs.
struct DeliveryAttempt {
    /// Position of the event.
    var id: Int64
    /// Position of the record that holds the event.
    var body: Int64
    /// The attempt's number, from 1.
    var number: Int
    /// The instant at which the attempt began, in wall milliseconds.
    var begunAt: Int64
    /// The instant at which the delivery was redriven, in wall milliseconds; nil where it was not.
    var redrivenAt: Int64?
    /// The timer's present webhook, encoded; nil for a deleted timer, whose will holds the webhook, or else its event.
    var webhook: [UInt8]?
    /// Position of a deleted timer's will (see `DeliveryWill`); nil where there is none.
    var will: Int64?
}

/// A delivery that is ready, as the dispatcher takes it over.
struct TakenDelivery {
    /// Position of the event.
    var id: Int64
    /// Position of the record that holds the event.
    var body: Int64
    /// The origin that the delivery goes to; nil for a deleted timer, whose will holds the webhook, or else its event.
    var origin: String?
    /// Position of a deleted timer's will (see `DeliveryWill`); nil where there is none.
    var will: Int64?
}

/// The end of an attempt at a delivery, for the engine to record.
struct AttemptEnd {
    var outcome: DeliveryOutcome
    /// The waiting time before the next attempt, in milliseconds.
    var retryAfter: Int64 = 0
    /// The receiver's command for the timer.
    var command: ReceiverCommand?
    /// The definition of a deleted timer, of which only the prefix is recorded; empty otherwise.
    var definition: [UInt8] = []
    /// The last version of a deleted timer; 0 otherwise.
    var version: Int64 = 0
    /// The instant of the event where it is a fire, in wall milliseconds; nil otherwise.
    var firedAt: Int64?
    /// The URL that the attempt was sent to; nil where none was sent.
    var url: String?
    /// The instant from which the delivery is too old for another attempt, in wall milliseconds; nil for never.
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

    /// Makes the end of a delivery that was already too old when an attempt was to begin: the attempt is not made.
    init(aged attempt: DeliveryAttempt) {
        self.init(outcome: DeliveryOutcome(.deliveryDead, delivery: attempt.id, attempt: attempt.number - 1))
        outcome.reason = .age
    }

    /// Ends the wait for the next attempt no later than when the delivery becomes too old; a delivery that is too
    /// old at `now`, in wall milliseconds, is dead.
    mutating func boundAge(_ now: Int64) {
        guard outcome.type == .deliveryFailed, let expiresAt else { return }
        if now >= expiresAt {
            (outcome.type, outcome.reason) = (.deliveryDead, .age)
        } else {
            retryAfter = min(retryAfter, expiresAt - now)
        }
    }
}

/// A receiver's answer in `Timer-Command`.
struct ReceiverCommand {
    /// The header's value as it came.
    var text: [UInt8]
    /// The command that the value was understood as; nil where it is none.
    var header: TimerCommandHeader?

    init(_ text: [UInt8]) {
        self.text = text
        header = TimerCommandHeader(text)
    }
}
