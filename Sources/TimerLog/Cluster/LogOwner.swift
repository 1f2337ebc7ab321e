/// The session that owns the log of a cluster, and its epoch.
public struct LogOwner: Sendable, Equatable {
    /// The number of epochs begun so far: an owner begins one with its take, and may begin more.
    public var epoch: Int64
    /// The session that owns the log; 0 before the first owner.
    public var session: Int64

    /// Makes an owner; see the members.
    public init(epoch: Int64, session: Int64) {
        self.epoch = epoch
        self.session = session
    }
}

/// A take-over of the log, or its gift to another session.
public struct TakeOrder: Sendable, Equatable {
    /// The epoch at which the log was seen: nothing changes if the log has another.
    public var epoch: Int64
    /// The session that was seen to own the log.
    public var from: Int64
    /// The session that takes the log.
    public var session: Int64
    /// The position of the taker's clock: the barrier comes after it.
    public var clock: Int64

    /// Makes a take order; see the members.
    public init(epoch: Int64, from: Int64, session: Int64, clock: Int64) {
        self.epoch = epoch
        self.from = from
        self.session = session
        self.clock = clock
    }
}

/// The outcome of a take-over, where it is known.
public enum TakeOutcome: Sendable, Equatable {
    /// The session owns the log from the barrier on.
    case taken(Barrier)
    /// Nothing was changed: the log has another epoch, its owner's session has not been ended, or the taker's has.
    case refused
    /// Nothing was changed: a statement of the old owner holds the key of the barrier.
    case blocked
}

/// The row that begins an epoch: after it no append of the old owner succeeds.
public struct Barrier: Sendable, Equatable {
    /// The epoch that the row begins.
    public var epoch: Int64
    /// Position of the last record before the row.
    public var previous: Int64
    /// Position of the row's one record.
    public var position: Int64

    /// Makes a barrier; see the members.
    public init(epoch: Int64, previous: Int64, position: Int64) {
        self.epoch = epoch
        self.previous = previous
        self.position = position
    }
}
