/// The treatment of due instants that passed while the fire loop was stalled, or that a step of the calendar skipped.
public enum MisfirePolicy: UInt8, Sendable, CaseIterable {
    /// One fire for all of them.
    case once = 0
    /// One fire for each, oldest first, paced; the latest `Scheduler.mostCaughtUp` at most.
    case all = 1
    /// No fire: all are dropped and counted.
    case skip = 2

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .once: "once"
        case .all: "all"
        case .skip: "skip"
        }
    }
}
