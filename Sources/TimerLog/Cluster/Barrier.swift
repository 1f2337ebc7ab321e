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
