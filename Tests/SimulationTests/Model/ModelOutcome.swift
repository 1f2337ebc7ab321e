import TimerLog

@testable import TimerCore

/// The outcome the model expects of a request: no change and a reason when it is refused.
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
        case .illegalTransition, .illegalChange, .notAWatchdog, .missingCalendar: self = .illegal
        case .versionMismatch: self = .version
        case .invalidSchedule: self = .schedule
        case .timerLimit: return nil
        }
    }
}
