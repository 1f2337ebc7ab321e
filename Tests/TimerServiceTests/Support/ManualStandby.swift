import TestSupport
import Testing
import TimerCore

@testable import TimerLog
@testable import TimerService

/// A standby's fold of the store's log.
final class ManualStandby {
    private var fold: StandbyFold
    private let configuration: EngineConfiguration
    private let store: MemoryLogStore
    /// How often the fold has begun again, by cause.
    private(set) var breaks: [StandbyBreak: Int] = [:]

    init(_ store: MemoryLogStore, _ configuration: EngineConfiguration) throws {
        fold = StandbyFold(secret: try #require(store.secret), configuration)
        (self.store, self.configuration) = (store, configuration)
    }

    func round(at elapsed: Int64? = 0, while goesOn: () -> Bool = { true }) throws -> StandbyFold.Round {
        let round = try fold.round(at: elapsed, store.makeFollower()) { _ in goesOn() }
        if case .broken(let cause) = round { breaks[cause, default: 0] += 1 }
        return round
    }

    func noteShown(_ position: Int64) { fold.shown.note(position) }
    func takeLoss() -> LostRows? { fold.takeLoss() }

    func forget(at elapsed: Int64) { fold.forget(at: elapsed) }

    var head: Int64 { fold.head }
    var isWhole: Bool { fold.isWhole }
    var lost: HighWaterMark { fold.lost }
    var answered: IdempotencyTable { fold.answered }
    var hasTakenAnswers: Bool { fold.fold.answers.isEmpty }
    var highestVersion: Int64 { fold.fold.highestVersion }
    var deadDeliveries: Int { fold.fold.scheduler.deadDeliveries }
    var copy: SchedulerCopy { SchedulerCopy(fold.fold.scheduler) }
    var ids: [String] { copy.timers.keys.sorted() }

    /// Returns the fold, and begins another.
    func end() throws -> StandbyFold {
        var ended = StandbyFold(secret: try #require(store.secret), configuration)
        swap(&ended, &fold)
        return ended
    }
}
