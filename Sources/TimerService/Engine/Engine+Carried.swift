import TimerCore
import TimerLog

/// The values that compaction gives to an engine.
extension Engine {
    /// The contents of a row to be deleted that may still be needed.
    struct Carried {
        /// Timers whose definition a record of the row holds: the timer's name, and the position of the record.
        var bases: [(key: TimerKey, position: Int64)] = []
        /// Answers to requests with an idempotency key, with the positions of their records.
        var answers: [(answer: StoredAnswer, position: Int64)] = []
        var kicks: [CarriedKick] = []
        /// Events of deliveries.
        var deliveries: [CarriedDelivery] = []
        /// Definitions of deleted timers, with the positions of their records.
        var wills: [(definition: [UInt8], position: Int64)] = []
        /// The number of entries, which are numbered in this order: bases, answers, kicks, deliveries, wills.
        var count: Int { bases.count + answers.count + kicks.count + deliveries.count + wills.count }
    }

    /// A kick in a row to be deleted: its timer, by hash and base as in the record, and the version that the kick
    /// made.
    struct CarriedKick {
        var hash: UInt32
        var base: Int64
        var version: Int64
    }

    /// The event of a delivery, in a row to be deleted.
    struct CarriedDelivery {
        var id: Int64
        /// The id of the event on the server where it happened: see `RecordCodec`.
        var origin: Int64
        /// Position of the record that holds the event.
        var position: Int64
        /// The event's record, without frame.
        var event: [UInt8]
    }
}
