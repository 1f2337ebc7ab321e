/// What becomes of due instants that passed while the fire loop stood still, or that a step of the calendar skipped.
public enum MisfirePolicy: UInt8, Sendable, CaseIterable {
    /// One fire stands for all.
    case once = 0
    /// Each fires, oldest first, paced; the latest `Scheduler.mostCaughtUp` at most.
    case all = 1
    /// They are dropped and counted.
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
