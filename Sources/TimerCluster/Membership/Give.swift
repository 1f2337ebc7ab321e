/// A partition that this node gives to another.
struct Give: Sendable {
    /// How far it is.
    enum Phase: Sendable, Equatable {
        /// The target reads the log; this node serves.
        case preparing
        /// This node stops serving.
        case releasing
        /// The directory is asked. Nothing was promised beyond `clock`.
        case giving(clock: Int64)
        /// The directory has refused, or its answer did not come: the map of owners is read first.
        case unclear(clock: Int64)
    }

    /// The session that gets it.
    var target: Int64
    /// The partition's epoch when this began.
    var epoch: Int64
    /// When this began, in nanoseconds since boot.
    var began: Int64
    /// When the target is asked next how far it is, in nanoseconds since boot.
    var nextAsk: Int64
    var phase = Phase.preparing
    /// How many times the directory was asked.
    var tries = 0

    /// Whether this node still serves the partition.
    var isServing: Bool { phase == .preparing }
}
