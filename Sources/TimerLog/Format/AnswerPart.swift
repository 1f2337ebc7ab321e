/// The part of a run's answer that a record holds. The record is in the batch of its steps' changes, so that each
/// step is done once.
public struct AnswerPart: Sendable, Equatable {
    /// Position of the run's first part, which distinguishes the runs of a key; 0 for the position of this one.
    public var origin: Int64
    /// The number of parts before this one. A later record of the same number replaces this one.
    public var index: Int
    /// Whether the run is done.
    public var isLast: Bool

    /// The most parts of a run.
    public static let most = 1 << 16

    /// Makes a part; see the members.
    public init(origin: Int64, index: Int, isLast: Bool) {
        self.origin = origin
        self.index = index
        self.isLast = isLast
    }
}
