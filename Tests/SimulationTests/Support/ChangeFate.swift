/// What becomes of a change of rows that are there.
struct ChangeFate {
    /// Whether it is made.
    var lands = true
    /// Whether the store says that it failed.
    var fails = false
    /// Whether the store can't be opened right after.
    var staysShut = false
    /// Whether the process ends before it hears of it.
    var crashes = false
}
