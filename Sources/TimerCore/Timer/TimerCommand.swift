/// The commands that a client can give to a timer.
public enum TimerCommand: UInt8, Sendable, CaseIterable {
    case activate, suspend, resume, cancel, kick, fire, reschedule

    /// The name on the wire, also the last path component.
    public var name: StaticString {
        switch self {
        case .activate: "activate"
        case .suspend: "suspend"
        case .resume: "resume"
        case .cancel: "cancel"
        case .kick: "kick"
        case .fire: "fire"
        case .reschedule: "reschedule"
        }
    }
}
