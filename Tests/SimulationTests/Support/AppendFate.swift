import TimerLog

/// What becomes of an append, as the simulation has it.
struct AppendFate {
    /// Whether the rows are on disk afterwards.
    var lands = true
    /// What the store says, nil for the truth.
    var outcome: AppendOutcome?
    /// Whether the process ends before it hears of it.
    var crashes = false
}
