/// Why an answer was not detached or parked.
public enum DetachRefusal: Sendable, Equatable {
    /// Only GET may become a stream; HEAD has no content.
    case notGet
    /// `ServerLimits.streams` is reached, or no descriptor is left.
    case limitReached
    /// The client has disconnected.
    case clientGone
}
