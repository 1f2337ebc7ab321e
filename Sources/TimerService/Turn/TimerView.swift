public import TimerCore

/// A timer as it was at one instant, copied out from under the lock to be shown.
public struct TimerView: Sendable {
    /// What its life changes.
    public var progress = TimerProgress()
    /// The rest of a watchdog's progress; nil for other kinds.
    public var kicks: KickProgress?
    /// What its client set, encoded; see `Definition`.
    public var definition: [UInt8] = []
    /// The instant it was copied at.
    public var now = Now(elapsed: 0, wallOffset: 0)
    /// Position of the newest record it rests on: showing it waits until that is durable.
    public var position: Int64 = 0
    /// Position of the newest event it reflects.
    public var eventID: Int64 = 0

    /// An empty view, to be filled again and again.
    public init() {}
}
