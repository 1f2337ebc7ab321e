import TimerLog

/// The outcome of an append that the simulation decides on.
struct AppendFate {
    /// Whether the rows are on disk afterwards.
    var lands = true
    /// The outcome the store reports; nil for the true one.
    var outcome: AppendOutcome?
    /// Whether the process ends before it receives the outcome.
    var crashes = false
}
