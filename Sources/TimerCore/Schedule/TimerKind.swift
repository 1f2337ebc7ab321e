/// The kinds of timer, as shown to clients.
public enum TimerKind: Sendable, CaseIterable {
    case oneShot, repeating, cron, watchdog

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .oneShot: "oneShot"
        case .repeating: "repeating"
        case .cron: "cron"
        case .watchdog: "watchdog"
        }
    }
}
