/// The longest hold of one cause: of those measured, the one that took the most processor time.
public struct LongestHold: Sendable {
    /// Seconds of processor time that the holder used.
    public var cpuSeconds = 0.0
    /// Seconds that the same hold took by the clock.
    public var wallSeconds = 0.0
    /// How many holds of this cause were measured.
    public var count = 0
}
