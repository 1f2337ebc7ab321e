/// The time for which a test waits for an event that must come. It only bounds a hang: on the slowest machine it
/// is enough.
package enum Patience {
    package static let seconds = 30
    package static let milliseconds = seconds * 1000
    package static let nanoseconds = Int64(seconds) * 1_000_000_000
}
