/// The newest requests of a loop that came one after the other: none while one over another connection was under way.
struct RequestSequence {
    /// The connection of the newest request. One that takes the place of another in memory counts as the same, which
    /// does no harm.
    private var connection: ObjectIdentifier?
    /// The instants of the sequence's first request and of its newest, on the monotonic clock in nanoseconds.
    private var first: Int64 = 0
    private var newest: Int64 = 0
    /// The instant at which another connection's request came last.
    private var changed: Int64 = 0
    /// The end of the newest append that the loop made itself.
    private var ledUntil: Int64 = 0

    /// The length from which a sequence is established, in nanoseconds. Clients that come more often than that in each other's way
    /// therefore never wait for an append of the loop.
    static let leastLength: Int64 = 100_000_000
    /// The nanoseconds after an append of the loop in which another client's request counts as one that came meanwhile: the
    /// loop reads it once the answer is sent.
    static let leastPause: Int64 = 100_000

    /// Whether the next request, too, will probably have the loop for itself.
    var isEstablished: Bool { newest - first >= Self.leastLength }

    /// Whether several clients have asked lately.
    var isOfMany: Bool { newest - changed < Self.leastLength }

    /// Notes that a request came at the monotonic instant `now`, and whether others of the loop are under way.
    mutating func asked(over connection: ObjectIdentifier, at now: Int64, isBesideOthers: Bool) {
        let isAnother = connection != self.connection
        if isAnother, isBesideOthers || now - ledUntil < Self.leastPause || self.connection == nil { first = now }
        if isAnother { changed = now }
        self.connection = connection
        newest = now
    }

    /// Notes that the loop made an append, up to the monotonic instant `now`.
    mutating func led(until now: Int64) { ledUntil = now }
}

/// The commits of a loop that has requests under way without a pause. Reads and streams wait for what a long request has
/// changed so far, though its own answer is far off.
struct BusyCommits {
    /// The instant at which the next commit is due, on the monotonic clock in nanoseconds; nil while the loop is idle.
    private var dueAt: Int64?

    /// The nanoseconds from one commit to the next.
    private let interval: Int64

    init(interval: Int64) { self.interval = interval }

    /// Notes the end of a round of the loop.
    ///
    /// - Parameters:
    ///   - isIdle: whether no request is under way any more.
    ///   - now: the monotonic instant; read while the loop is busy.
    /// - Returns: whether the loop is to commit.
    mutating func isDue(isIdle: Bool, at now: @autoclosure () -> Int64) -> Bool {
        if isIdle {
            dueAt = nil
            return true
        }
        let now = now()
        guard let due = dueAt, now < due else {
            defer { dueAt = now + interval }
            return dueAt != nil
        }
        return false
    }
}
