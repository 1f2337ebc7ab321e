/// What happens to a delivery.
public enum DeliveryEvent: Int, Sendable, CaseIterable {
    /// Its turn has come, and the request goes out.
    case started
    /// The receiver took it.
    case delivered
    /// The attempt failed, and there will be another.
    case failed
    /// The last attempt failed.
    case exhausted
    /// The receiver wants no more of the timer's deliveries.
    case refused
    /// The attempt could not begin after all.
    case postponed
    /// The wait for the next attempt is over.
    case due
    /// Too many are pending, and this is the oldest.
    case overflowed
    /// A client wants it tried anew.
    case redriven
    /// A client dropped it, or its timer.
    case dropped
    /// An attempt has ended that the log, folded anew meanwhile, knows nothing of.
    case rejoined
}
