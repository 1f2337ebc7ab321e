/// The way in which `resume` treats the time for which a timer was suspended.
public enum ResumePolicy: UInt8, Sendable, CaseIterable {
    /// The time left at suspend is the time left at resume.
    case remaining = 0
    /// The grid stays; the due instants in the pause fire once at resume.
    case deadline = 1
    /// The grid stays; the due instants in the pause are dropped and counted.
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
