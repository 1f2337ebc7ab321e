/// The outcome of a deletion or replacement of rows that the simulation decides on.
struct ChangeFate {
    /// Whether the change is made.
    var lands = true
    /// Whether the store says that it failed.
    var fails = false
    /// Whether the store can't be opened right after.
    var staysShut = false
    /// Whether the process ends before it receives the outcome.
    var crashes = false
}
