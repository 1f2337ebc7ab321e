/// The instant to which a `reschedule` moves the next due one.
public enum RescheduleTarget: Sendable, Equatable {
    /// Milliseconds from now.
    case after(Int64)
    /// A wall instant in milliseconds.
    case at(Int64)
}
