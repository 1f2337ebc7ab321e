import TimerCore

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
}
