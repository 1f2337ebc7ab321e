/// The kinds of alarm that can wake the fire loop of a server.
public enum AlarmKind: String, CaseIterable, Sendable {
    /// `TimerFDAlarm`.
    case timerfd
    /// `DispatchAlarm`.
    case dispatch

    /// Makes an alarm that is not armed.
    public func make() -> any Alarm {
        switch self {
        case .timerfd: TimerFDAlarm()
        case .dispatch: DispatchAlarm()
        }
    }
}
