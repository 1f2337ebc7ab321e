/// The timers that a walk goes over, at the cost of these alone.
public enum Selection: Sendable, Equatable {
    /// All timers.
    case all
    /// The timers that carry this label, given in its encoded form.
    case labelled([UInt8])
    /// The watchdogs that alarm now.
    case alarming
}
