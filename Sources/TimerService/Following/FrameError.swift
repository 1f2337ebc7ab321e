/// Why bytes of another process are no message of a feed.
public enum FrameError: Error, Sendable, Equatable {
    /// A message is longer than any that is sent.
    case tooLong
    /// A message ends before its fields do, or goes on behind them.
    case cut
    /// No message, or part of one, begins with this byte.
    case unknownKind(UInt8)
    /// A number is none that its field can have.
    case outOfRange
    /// Rows do not follow each other, or a row begins before its predecessor's end.
    case disordered
    /// Something is said of records behind a place that the follower has not come to.
    case gap
}
