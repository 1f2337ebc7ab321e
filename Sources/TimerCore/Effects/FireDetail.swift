/// The details of a `fired` event beside the timer's progress.
public struct FireDetail: Sendable, Equatable {
    /// The nominal due instant, in wall milliseconds.
    public var scheduledAt: Int64
    /// Microseconds from the nominal due instant to the fire.
    public var latenessUs: Int64
    /// The number of due instants that got no fire of their own and are counted with this one.
    public var missed: Int64

    /// Makes a detail; see the members.
    public init(scheduledAt: Int64, latenessUs: Int64, missed: Int64) {
        self.scheduledAt = scheduledAt
        self.latenessUs = latenessUs
        self.missed = missed
    }
}
