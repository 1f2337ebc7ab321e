/// Whether a process may answer for timers.
public enum Standing: Sendable, Equatable {
    /// It may, for the partitions that it owns.
    case serving
    /// It owns partitions, but can't prove now that nobody has taken them.
    case leaseOver
    /// It owns none; `owner` is where the process is reached that does, where that is known.
    case standby(owner: String?)
}
