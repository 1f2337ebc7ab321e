import TimerCore

/// The number of streams that follow each timer, and the timers that the last stream left or at which a stream is
/// expected. Kept in memory alone, since a stop of the server ends every stream.
struct Subscriptions {
    private struct Place {
        var key: TimerKey
        /// How many streams follow the timer.
        var readers = 0
        /// The instant, in elapsed nanoseconds, from which it counts that no stream follows the timer.
        var deadline: Int64?
    }

    private struct Deadline {
        var hash: UInt64
        var at: Int64
    }

    private var places: [UInt64: Place] = [:]
    /// The deadlines of timers that the last stream left, and of timers at which a stream is expected since a
    /// start. Each queue has deadlines of one length, so they are in order. A deadline that a subscriber or a later
    /// deadline made void is passed over.
    private var leaving: FIFO<Deadline> = FIFO()
    private var returning: FIFO<Deadline> = FIFO()

    /// How long a timer may be without a stream before that counts, in nanoseconds.
    static let patience: Int64 = 2_000_000_000
    /// How long the server waits after its start for streams that followed before, in nanoseconds.
    static let patienceAtStart: Int64 = 10_000_000_000

    /// Returns how many streams follow the timer named `key`.
    func readers(_ key: borrowing TimerKey) -> Int { places[key.hash]?.readers ?? 0 }

    /// The timers that a stream follows.
    var followed: [TimerKey] { places.values.filter { $0.readers > 0 }.map(\.key) }

    /// Whether streams that followed before the start are still expected.
    var expectsReturns: Bool { !returning.isEmpty }

    /// Notes that a stream follows the timer named `key`.
    mutating func come(_ key: TimerKey) {
        places[key.hash, default: Place(key: key)].readers += 1
        places[key.hash]?.deadline = nil
    }

    /// Notes that a stream that followed the timer named `key` has ended.
    ///
    /// - Returns: whether it was the last.
    mutating func leave(_ key: TimerKey) -> Bool {
        guard let readers = places[key.hash]?.readers, readers > 1 else {
            places[key.hash] = nil
            return true
        }
        places[key.hash]?.readers = readers - 1
        return false
    }

    /// Sets a deadline by which a stream has to follow the timer named `key`.
    ///
    /// - Parameter atStart: whether `patienceAtStart` applies: the server has just started, or the timer was just
    ///   imported.
    mutating func expect(_ key: TimerKey, at now: Int64, atStart: Bool = false) {
        let deadline = now + (atStart ? Self.patienceAtStart : Self.patience)
        places[key.hash, default: Place(key: key)].deadline = deadline
        if atStart {
            returning.append(Deadline(hash: key.hash, at: deadline))
        } else {
            leaving.append(Deadline(hash: key.hash, at: deadline))
        }
    }

    /// Whether a deadline of the timer named `key` is still to come.
    func isExpected(_ key: borrowing TimerKey) -> Bool { places[key.hash]?.deadline != nil }

    /// An instant in elapsed nanoseconds not after the next deadline; nil when there is none.
    var nextWake: Int64? {
        guard let left = leaving.first?.at else { return returning.first?.at }
        return min(left, returning.first?.at ?? .max)
    }

    /// Takes a timer whose deadline has come; nil when there is none.
    mutating func popDue(_ now: Int64) -> TimerKey? {
        while let next = pop(&leaving, now) ?? pop(&returning, now) {
            guard let place = places[next.hash], place.deadline == next.at else { continue }
            if place.readers == 0 { places[next.hash] = nil } else { places[next.hash]?.deadline = nil }
            return place.key
        }
        return nil
    }

    private func pop(_ deadlines: inout FIFO<Deadline>, _ now: Int64) -> Deadline? {
        guard let first = deadlines.first, first.at <= now else { return nil }
        return deadlines.popFirst()
    }
}
