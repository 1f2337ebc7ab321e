/// What a `reschedule` moves the next due instant to.
public enum RescheduleTarget: Sendable, Equatable {
    /// That many milliseconds from now.
    case after(Int64)
    /// A wall instant in milliseconds.
    case at(Int64)
}
