/// How long a test waits for what must come. It bounds a hang and decides nothing else: on the slowest machine it is enough.
package enum Patience {
    package static let seconds = 30
    package static let nanoseconds = Int64(seconds) * 1_000_000_000
}
