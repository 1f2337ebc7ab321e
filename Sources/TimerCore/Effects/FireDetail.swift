/// What a `fired` event says beside the timer's progress.
public struct FireDetail: Sendable, Equatable {
    /// Nominal due instant, wall milliseconds.
    public var scheduledAt: Int64
    /// Microseconds from the nominal due instant to the fire.
    public var latenessUs: Int64
    /// Due instants this fire also stands for.
    public var missed: Int64

    /// Makes a detail; see the members.
    public init(scheduledAt: Int64, latenessUs: Int64, missed: Int64) {
        self.scheduledAt = scheduledAt
        self.latenessUs = latenessUs
        self.missed = missed
    }
}
