/// The row that begins an epoch: after it the old owner's appends find no place.
public struct Barrier: Sendable, Equatable {
    /// The epoch that it begins.
    public var epoch: Int64
    /// Position of the last record before it.
    public var previous: Int64
    /// Position of its one record.
    public var position: Int64

    /// Makes a barrier; see the members.
    public init(epoch: Int64, previous: Int64, position: Int64) {
        self.epoch = epoch
        self.previous = previous
        self.position = position
    }
}
