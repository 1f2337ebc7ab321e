@testable import TimerCore
@testable import TimerLog
@testable import TimerService

/// A timer as a scheduler holds it, for comparison.
struct HeldTimer: Equatable {
    var progress: TimerProgress
    var kicks: KickProgress?
    var definition: [UInt8]

    /// The timer as one version of it shows it, whatever a change of its calendar planned since.
    var asVersioned: HeldTimer {
        var timer = self
        if Definition.calendarName(definition.span) != nil { timer.progress.due = 0 }
        return timer
    }

    /// Every timer of `scheduler`, by id.
    static func all(_ scheduler: borrowing Scheduler) -> [String: HeldTimer] {
        var held: [String: HeldTimer] = [:]
        var slots: [SlotIndex] = []
        scheduler.walk(after: nil, over: .all) { _, slot in
            slots.append(slot)
            return true
        }
        for slot in slots {
            let definition = scheduler.withDefinition(slot) { bytes in bytes.indices.map { bytes[$0] } }
            var id: [UInt8] = []
            Definition.appendID(definition.span, to: &id)
            held[String(decoding: id, as: UTF8.self)] = HeldTimer(
                progress: scheduler.presentProgress(slot).withoutEdition, kicks: scheduler.kicks(slot),
                definition: definition)
        }
        return held
    }
}
