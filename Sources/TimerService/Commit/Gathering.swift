/// How long the committer delays a batch so that more requests share its append (group commit).
///
/// Clients that were answered together ask again together. Without a delay the first of them would have an append
/// of its own, and the others the next one: each of these would wait for two appends. The committer therefore waits
/// for as many requests as the last batch answered, at most half as long as the last append took. A single client
/// never waits: its one request is all that the last batch answered.
struct Gathering {
    /// Requests that the last batch answered: as many may come again.
    private(set) var expected = 0
    /// Monotonic nanoseconds up to which the committer waits for them.
    private(set) var deadline: Int64 = 0

    /// The longest wait, in nanoseconds.
    static let longest: Int64 = 2_000_000
    /// The shortest wait, in nanoseconds: a shorter sleep costs more than it gains.
    static let shortest: Int64 = 20_000

    /// Notes that a batch was taken, with so many requests to answer.
    mutating func took(_ requests: Int) { expected = requests }

    /// Notes how long the append took, in monotonic nanoseconds.
    mutating func appended(from start: Int64, to end: Int64) {
        let wait = min((end - start) / 2, Self.longest)
        deadline = wait < Self.shortest ? end : end + wait
    }
}
