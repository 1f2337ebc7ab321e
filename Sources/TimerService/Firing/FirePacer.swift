/// When the fire loop means to wake, and whether it stood still. Instants are elapsed nanoseconds.
struct FirePacer {
    /// What the alarm is armed for; `Int64.max` for nothing.
    private(set) var armedFor = Int64.max
    /// The fire loop's last sign of life.
    private var lastBeat: Int64 = 0
    /// Whether the fire loop is between two steps of one waking.
    private var isAdvancing = false

    /// A stand-still over this, in nanoseconds, makes misfires of what came due in it.
    static let stallThreshold: Int64 = 1_000_000_000

    /// Plans to wake at `wake`. Returns whether the alarm is to be armed for it: it is armed for nothing as early.
    mutating func plan(_ wake: Int64) -> Bool {
        guard wake < armedFor else { return false }
        armedFor = wake
        return true
    }

    /// Forgets what the alarm is armed for, unless that is overdue at `now`: from an overdue waking the fire loop learns that
    /// it stood still.
    mutating func replan(at now: Int64) { if armedFor > now { armedFor = .max } }

    /// When the loop is to be seen again; `Int64.max` for nothing.
    private var expected: Int64 { max(armedFor, lastBeat) }

    /// Whether the loop, which wakes at `now`, stood still before.
    func stoodStill(until now: Int64) -> Bool { expected != .max && now - expected > Self.stallThreshold }

    /// Notes that the loop moves.
    mutating func beat(at now: Int64) { lastBeat = now }

    /// Notes a step of the loop.
    ///
    /// - Returns: whether it was the first of a waking that fired something.
    mutating func step(fired: Bool, isDone: Bool) -> Bool {
        defer { isAdvancing = !isDone }
        return fired && !isAdvancing
    }

    /// Notes whether the loop is done until the next waking; else what is left stays due now.
    mutating func finish(isDone: Bool, at now: Int64) { armedFor = isDone ? .max : now }

    /// Begins anew with the next waking at `wake`: overdue timers waited for the disk, or for the server's start, so the loop
    /// counts as having stood still.
    mutating func restart(wake: Int64?) {
        armedFor = wake ?? .max
        lastBeat = 0
    }
}
