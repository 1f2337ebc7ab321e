/// The moment from which an answer may leave.
public enum Durability: Sendable, Equatable {
    /// The answer leaves once every change that it rests on is on disk.
    case commit
    /// The answer leaves at once; changes reach the disk at most that many nanoseconds later: a crash may lose them.
    case interval(Int64)
}
