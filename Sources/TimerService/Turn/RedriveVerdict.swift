public import TimerCore

/// The result of a redrive.
public enum RedriveVerdict: Sendable, Equatable {
    /// It will be delivered anew, from its first attempt on.
    case redriven(DeliveryStanding)
    /// It is no dead letter.
    case notDead(DeliveryState)
    /// Its timer has no webhook any more, or one whose receiver said that it wants no more.
    case noWebhook
    /// As many deliveries of its timer, or in all, as may be are pending.
    case full
}
