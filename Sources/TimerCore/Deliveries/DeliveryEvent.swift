/// An event in the life of a delivery.
public enum DeliveryEvent: Int, Sendable, CaseIterable {
    /// An attempt began.
    case started
    /// The receiver accepted the delivery.
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
    /// Too many deliveries are pending, and this one is the oldest.
    case overflowed
    /// A client redrove the dead letter: it is attempted again.
    case redriven
    /// A client dropped the delivery, or its timer.
    case dropped
    /// An attempt is under way that the log, folded again meanwhile, has no record of.
    case rejoined
}
