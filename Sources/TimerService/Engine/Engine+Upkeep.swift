import TimerCore

/// The figures that compaction asks an engine for.
extension Engine {
    /// The figures that compaction decides by, at one instant.
    struct Upkeep {
        /// How often the log was folded again: what was recorded before a fold may be lost.
        var restarts: Int
        /// Position of the newest record given out.
        var head: Int64
        /// The instant, in wall milliseconds.
        var wall: Int64
        /// Timers and answers that the log has to keep, and the bytes of their definitions and texts.
        var liveRecords: Int
        var liveBytes: Int
        /// Bytes of pending deliveries' events, estimated.
        var deliveryBytes: Int
        /// Bytes of deliveries' events that were written again so far.
        var carriedDeliveryBytes: Int
    }

    /// The figures that compaction decides by, as they are now.
    var upkeep: Upkeep {
        lock.withLock(.compaction) {
            Upkeep(
                restarts: restarts, head: batch.head, wall: instant().wall,
                liveRecords: scheduler.count + idempotency.count,
                liveBytes: scheduler.definitionBytes + idempotency.answerBytes, deliveryBytes: deliveryBytes,
                carriedDeliveryBytes: carriedDeliveryBytes)
        }
    }
}
