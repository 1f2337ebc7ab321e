/// How long the committer waits for company before it takes a batch.
///
/// Clients that were answered together ask again together. The first of them would have an append of its own, and the
/// others the next one: each would wait for two. So as many requests as the last batch answered are waited for, but for no
/// longer than half of what the last append took. Who is alone never waits.
struct Gathering {
    /// Requests that the last batch answered, whatever each of them changed: so many may come again.
    private(set) var expected = 0
    /// Monotonic nanoseconds up to which they are waited for.
    private(set) var deadline: Int64 = 0

    /// The longest wait, in nanoseconds.
    static let longest: Int64 = 2_000_000
    /// Below this a sleep costs more than it gains.
    static let shortest: Int64 = 20_000

    /// Notes that a batch was taken, with so many requests to answer.
    mutating func took(_ requests: Int) { expected = requests }

    /// Notes how long the append took, in monotonic nanoseconds.
    mutating func appended(from start: Int64, to end: Int64) {
        let wait = min((end - start) / 2, Self.longest)
        deadline = wait < Self.shortest ? end : end + wait
    }
}
