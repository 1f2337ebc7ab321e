/// What the fire loop tells an engine that it lets fire.
struct FireRound {
    /// A new time base is written where one is needed and the newest is so old, in nanoseconds.
    var ticksAfter = Engine.tickInterval
    /// Whether the committer is woken for what is recorded; else the loop does so, once for many partitions.
    var rings = true
    /// The end of the loop's last stand-still, in nanoseconds since boot: see `LoopPace`. Nil where there is one partition,
    /// whose pacer sees each.
    var stoodStillThrough: Int64?
}
