/// Which part of a run's answer a record holds. It is in the batch of its steps' changes, so each step is done once.
public struct AnswerPart: Sendable, Equatable {
    /// Position at which the run's first part was written; 0 for the position of this one. It tells the runs of a key
    /// apart.
    public var origin: Int64
    /// How many parts stand before it. A later record of the same number takes its place.
    public var index: Int
    /// Whether the run is done.
    public var isLast: Bool

    /// Most parts of a run.
    public static let most = 1 << 16

    /// Makes a part; see the members.
    public init(origin: Int64, index: Int, isLast: Bool) {
        self.origin = origin
        self.index = index
        self.isLast = isLast
    }
}
