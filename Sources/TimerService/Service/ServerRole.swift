/// Whether a process may answer for timers.
public enum ServerRole: Sendable, Equatable {
    /// The process may: it owns the log.
    case serving
    /// The process owns the log, but can't prove now that nobody has taken it.
    case leaseOver
    /// The process does not own the log; `owner` is the address of the process that does, where it is known.
    case standby(owner: String?)
}
