import TimerLog

@testable import TimerCore

/// A record that the model expects, or that the log holds, without names and positions.
struct ModelEvent: Equatable, CustomStringConvertible {
    /// The event's type; nil for a change that streams do not show.
    var type: EventType?
    var reason = EventReason.none
    var fire: FireDetail?
    var stalledFor: Int64?
    var silentFor: Int64?
    /// Whether the event is owed to the timer's webhook.
    var owes = false
    var progress: TimerProgress
    var kicks: KickProgress?

    var description: String {
        let name = type.map { "\($0.name)" } ?? "untold"
        return
            "\(name)(\(reason.name)) \(fire.map { "\($0)" } ?? "")\(owes ? " owed" : "") \(progress) \(kicks.map { "\($0)" } ?? "")"
    }
}
