/// What happens to a delivery.
public enum DeliveryEvent: Int, Sendable, CaseIterable {
    /// An attempt began.
    case started
    /// The receiver accepted it.
    case delivered
    /// The attempt failed, and there will be another.
    case failed
    /// The last attempt failed, its status allows no other, or the delivery is too old for another.
    case exhausted
    /// The receiver wants no more deliveries of the timer (410).
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
    /// An attempt is under way of which the log, folded anew meanwhile, has no record.
    case rejoined
}
