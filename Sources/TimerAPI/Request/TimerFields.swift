/// The names of a timer's fields.
public enum TimerFields {
    /// The read-only fields that a timer shows. They are ignored in a body, so that the answer of a
    /// GET can be PUT back.
    public static let readOnly: Set<String> = [
        "state", "kind", "createdAt", "updatedAt", "version", "nextFireAt", "remaining", "lastFiredAt", "fireCount",
        "missedCount", "allowed", "health", "lastKickedAt", "kickCount",
    ]
}
