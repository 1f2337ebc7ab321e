/// A partition that another node means to give to this one.
struct Preparation: Sendable {
    /// The session that means to give it.
    var giver: Int64
    /// What the giver calls the hand-over: see `PeerMessage`.
    var epoch: Int64
    /// The giver's instant of the newest question.
    var askedAt: Int64
    /// When that came, in nanoseconds since boot.
    var heardAt: Int64
    /// The giver's instant of the question that the log is being read for; nil while it is not read.
    var underWay: Int64?
    /// Whether what was read is to be thrown away.
    var isCancelled = false
}
