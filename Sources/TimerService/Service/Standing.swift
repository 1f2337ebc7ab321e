/// Whether a process may answer for timers.
public enum Standing: Sendable, Equatable {
    /// The process may: it owns all partitions.
    case serving
    /// The process owns all partitions, but can't prove now that nobody has taken them.
    case leaseOver
    /// The process does not own all partitions; `owner` is where the process that does is reached, where that is known.
    case standby(owner: String?)
}
