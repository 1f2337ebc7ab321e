/// What a repeating timer counts its next fire from.
public enum RepeatMode: UInt8, Sendable, CaseIterable {
    /// The grid: fires stay on it however late one was.
    case fixedRate = 0
    /// The fire before.
    case fixedDelay = 1

    /// The name on the wire.
    public var name: StaticString { self == .fixedRate ? "fixedRate" : "fixedDelay" }
}

/// What `resume` makes of the time a timer was suspended.
public enum ResumePolicy: UInt8, Sendable, CaseIterable {
    /// The time left at suspend is the time left at resume.
    case remaining = 0
    /// The grid stays; what fell into the pause fires once at resume.
    case deadline = 1
    /// The grid stays; what fell into the pause is dropped and counted.
    case skip = 2

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .remaining: "remaining"
        case .deadline: "deadline"
        case .skip: "skip"
        }
    }
}

/// Whether creating a timer sets it going.
public enum StartPolicy: UInt8, Sendable, CaseIterable {
    /// It runs from the start.
    case now = 0
    /// It is idle until it is activated.
    case manual = 1
    /// It is idle until somebody follows its events.
    case subscriber = 2

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .now: "now"
        case .manual: "manual"
        case .subscriber: "subscriber"
        }
    }
}

/// Whether a timer is suspended by itself.
public enum StopPolicy: UInt8, Sendable, CaseIterable {
    /// Once nobody follows its events any more; the next one who does resumes it.
    case subscriber = 1

    /// The name on the wire.
    public var name: StaticString { "subscriber" }
}

/// What becomes of due instants that passed while the fire loop stood still, or that the calendar jumped.
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
