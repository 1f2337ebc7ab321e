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

/// The instant to which a `reschedule` moves the next due one.
public enum RescheduleTarget: Sendable, Equatable {
    /// Milliseconds from now, of working time for a timer that counts it; `inDays` if the client wrote days.
    case after(Int64, inDays: Bool = false)
    /// A wall instant in milliseconds.
    case at(Int64)
}

/// A condition on a timer's version that a change depends on.
public enum VersionCondition: Sendable, Equatable {
    /// No condition.
    case none
    /// The version is one of these.
    case oneOf([Int64])
    /// The timer exists.
    case exists

    /// Throws unless the condition holds for a timer at `version`.
    public func check(_ version: Int64) throws(TimerRefusal) {
        if case .oneOf(let versions) = self, !versions.contains(version) {
            throw .versionMismatch(current: version)
        }
    }

    /// Whether the condition names `version`, that of an existing timer.
    public func names(_ version: Int64) -> Bool {
        switch self {
        case .none: false
        case .oneOf(let versions): versions.contains(version)
        case .exists: true
        }
    }
}

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
    /// The calendar of a timer that is to be started is deleted.
    case missingCalendar(state: TimerState, restartable: Bool, isWatchdog: Bool = false)
    /// `kick` is for watchdogs.
    case notAWatchdog(state: TimerState, restartable: Bool)
    /// The condition on the version does not hold; `current` is nil if there is no timer.
    case versionMismatch(current: Int64?)
    /// The schedule can never fire, or not within `until`; `pointer` names the field.
    case invalidSchedule(pointer: String, reason: String)
    /// The server has as many timers as it may hold.
    case timerLimit(Int)

    /// Returns the refusal of a timer that names a calendar which is not there.
    static func noCalendar(_ name: CalendarName) -> TimerRefusal {
        .invalidSchedule(
            pointer: "/calendar", reason: "there is no calendar `\(String(decoding: name.bytes, as: UTF8.self))`")
    }
}

/// Words that other programs, and people, use for a command of this program.
public enum MistakenWord {
    private static let meant: [String: TimerCommand] = [
        "begin": .activate, "launch": .activate, "restart": .activate, "start": .activate,
        "freeze": .suspend, "hold": .suspend, "pause": .suspend,
        "continue": .resume, "unpause": .resume, "unsuspend": .resume,
        "abort": .cancel, "end": .cancel, "kill": .cancel, "stop": .cancel,
        "heartbeat": .kick, "ping": .kick, "touch": .kick,
        "run": .fire, "trigger": .fire,
        "delay": .reschedule, "move": .reschedule, "postpone": .reschedule, "reset": .reschedule, "snooze": .reschedule,
    ]

    /// Every word with the command that it means, in the order of the words.
    public static var all: [(word: String, command: TimerCommand)] {
        meant.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns the command that `word` means, in whatever case; nil if `word` is no usual mistake.
    public static func command(meantBy word: String) -> TimerCommand? { meant[word.lowercased()] }
}
