/// The reason a command was refused. A refused command changed nothing.
public enum TimerRefusal: Error, Sendable, Equatable {
    /// No such timer.
    case notFound
    /// The id of a new timer is taken.
    case exists
    /// `TimerMachine` has no such transition from this state.
    case illegalTransition(TimerCommand, state: TimerState, restartable: Bool, isWatchdog: Bool = false)
    /// Only DELETE and changes of other fields are legal on an ended timer.
    case illegalChange(state: TimerState, restartable: Bool, isWatchdog: Bool = false)
    /// `kick` is for watchdogs.
    case notAWatchdog(state: TimerState, restartable: Bool)
    /// The condition on the version does not hold; `current` is nil if there is no timer.
    case versionMismatch(current: Int64?)
    /// The schedule can never fire, or not within `until`; `pointer` names the field.
    case invalidSchedule(pointer: String, reason: String)
    /// The server has as many timers as it may hold.
    case timerLimit(Int)
}
