/// When an answer may leave.
public enum Durability: Sendable, Equatable {
    /// When every change it rests on is on disk.
    case commit
    /// At once; changes reach the disk at most that many nanoseconds later, and a crash may lose them.
    case interval(Int64)
}
