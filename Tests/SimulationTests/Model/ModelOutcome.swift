import TimerLog

@testable import TimerCore

/// What the model expects of a request: nothing when it is refused, and why.
enum ModelOutcome: Equatable {
    case done([ModelEvent])
    case refused(Refusal)

    enum Refusal: Equatable {
        case notFound, exists, illegal, version, schedule
    }
}

extension ModelOutcome.Refusal {
    init?(_ refusal: TimerRefusal) {
        switch refusal {
        case .notFound: self = .notFound
        case .exists: self = .exists
        case .illegalTransition, .illegalChange, .notAWatchdog: self = .illegal
        case .versionMismatch: self = .version
        case .invalidSchedule: self = .schedule
        case .timerLimit: return nil
        }
    }
}
