/// The part of a timer that its life changes; `TimerRules` and the rest of its definition are what its client set.
///
/// Every log record carries it whole, so that folding the log is copying.
public struct TimerProgress: Sendable, Equatable, BitwiseCopyable {
    /// Grows with every change, 1 at the least.
    public var version: Int64 = 0
    /// Wall milliseconds of the last change.
    public var updatedAt: Int64 = 0
    /// Running, or suspended with its grid kept: the next due instant, in milliseconds on its clock. Suspended with
    /// its remaining time kept: microseconds left. Ended: milliseconds on the elapsed clock at which it is forgotten.
    public var due: Int64 = 0
    /// Wall milliseconds of the last fire, 0 before the first.
    public var lastFiredAt: Int64 = 0
    /// `fired` events so far, over every activation.
    public var fireCount: Int64 = 0
    /// Due instants that got no `fired` of their own.
    public var missedCount: Int64 = 0
    /// `fired` events since the last activation.
    public var firesSinceActivation: Int64 = 0
    /// Where in its life it is. Last, so that the table's slot has room behind this one byte.
    public var state: TimerState = .idle

    /// A timer that was just made.
    public init() {}
}
