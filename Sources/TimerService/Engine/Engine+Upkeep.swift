import TimerCore

/// What compaction asks of an engine.
extension Engine {
    /// What compaction goes by, at one instant.
    struct Upkeep {
        /// How often the log was folded anew: what was recorded before such an event may be lost.
        var restarts: Int
        /// Position of the newest record given out.
        var head: Int64
        /// Wall milliseconds.
        var wall: Int64
        /// Timers and answers that the log has to keep, and bytes of their definitions and texts.
        var liveRecords: Int
        var liveBytes: Int
        /// Bytes of pending deliveries' events, estimated.
        var deliveryBytes: Int
        /// Bytes of deliveries' events that were written anew so far.
        var carriedDeliveryBytes: Int
    }

    /// What compaction goes by, now.
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
