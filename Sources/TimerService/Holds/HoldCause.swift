/// The purpose that the engine's lock is held for.
public enum HoldCause: Int, CaseIterable, Sendable {
    case turn, fire, commit, compaction, delivery, restart, other

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .turn: "turn"
        case .fire: "fire"
        case .commit: "commit"
        case .compaction: "compaction"
        case .delivery: "delivery"
        case .restart: "restart"
        case .other: "other"
        }
    }
}
