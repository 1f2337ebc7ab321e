/// What a node says to another about a partition that is to change hands.
///
/// A message may be lost, repeated or late. None of them gives a right: who owns a partition stands in the directory alone.
/// The epoch is the partition's when the owner began to give it; it tells one hand-over from the next.
public enum PeerMessage: Sendable, Equatable {
    /// The owner means to give the partition: the target is to read its log, or what has come since it did. `askedAt` is an
    /// instant of the owner's clock, in nanoseconds since boot, which the answer repeats.
    case prepare(partition: Int, epoch: Int64, askedAt: Int64)
    /// The target has read the log to its end, and has found `rows` rows that it did not know.
    case prepared(partition: Int, epoch: Int64, askedAt: Int64, rows: Int)
    /// The partition is the session's from `epoch` on, which is the new one.
    case given(partition: Int, epoch: Int64, session: Int64)
    /// The sender does not go on with the hand-over.
    case cancelled(partition: Int, epoch: Int64)
}
