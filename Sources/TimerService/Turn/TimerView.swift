public import TimerCore

/// A timer as it was at one instant, copied out from under the lock to be shown.
public struct TimerView: Sendable {
    /// The part of the timer that changes during its life.
    public var progress = TimerProgress()
    /// The rest of a watchdog's progress; nil for other kinds.
    public var kicks: KickProgress?
    /// The part that its client set, encoded; see `Definition`.
    public var definition: [UInt8] = []
    /// The instant at which the timer was copied.
    public var now = Now(elapsed: 0, wallOffset: 0)
    /// Position of the newest record that the view rests on: showing it waits until that record is durable.
    public var position: Int64 = 0
    /// Position of the newest event that the view reflects.
    public var eventID: Int64 = 0

    /// Makes an empty view, to be filled again and again.
    public init() {}
}
