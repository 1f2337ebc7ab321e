package import TimerCore

/// A timer as a scheduler holds it.
package struct TimerCopy: Equatable {
    package var progress: TimerProgress
    package var kicks: KickProgress?
    package var definition: [UInt8]
    package var lastEvent: Int64
    package var base: Int64
    /// The timer's pending deliveries.
    package var pending: [Int64]
    /// The position of the timer's newest record but for kicks.
    package var lastRecord: Int64 { max(lastEvent, base) }
}
