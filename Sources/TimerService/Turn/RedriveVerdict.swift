public import TimerCore

/// The result of a redrive.
public enum RedriveVerdict: Sendable, Equatable {
    /// The dead letter is delivered again, from its first attempt on.
    case redriven(DeliveryDetail)
    /// The delivery is no dead letter.
    case notDead(DeliveryState)
    /// The delivery's timer has no webhook any more, or one that its receiver stopped.
    case noWebhook
    /// The delivery's timer, or the server, has as many pending deliveries as it may.
    case full
}
