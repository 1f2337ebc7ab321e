/// Whether the fire loop as a whole stood still, where it serves several partitions: a partition may wait for its turn
/// while others have theirs, which is no stand-still. Instants are nanoseconds since boot.
struct LoopPace {
    /// When the loop is to be seen next.
    private var expected = Int64.max
    /// The end of the last stand-still; `Int64.min` for none.
    private(set) var stoodStillThrough = Int64.min

    /// Notes that the loop moves.
    mutating func seen(at now: Int64) {
        if now - FirePacer.stallThreshold > expected { stoodStillThrough = now }
        expected = now
    }

    /// Notes that the loop is about to sleep, until `wake` at the latest.
    mutating func sleep(until wake: Int64) { expected = max(expected, wake) }
}
