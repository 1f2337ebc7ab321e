import TimerCore
import TimerLog

/// What compaction hands an engine.
extension Engine {
    /// What a row that is to be deleted holds that may still be needed.
    struct Carried {
        /// Timers whose definition a record of the row holds: name and position of the record.
        var bases: [(key: TimerKey, position: Int64)] = []
        /// Answers.
        var answers: [(answer: StoredAnswer, position: Int64)] = []
        /// Kicks.
        var kicks: [CarriedKick] = []
        /// Events of deliveries.
        var deliveries: [CarriedDelivery] = []
        /// Definitions of deleted timers, with the positions of their records.
        var wills: [(definition: [UInt8], position: Int64)] = []
        /// How many entries there are: bases, then answers, then kicks, then deliveries, then wills.
        var count: Int { bases.count + answers.count + kicks.count + deliveries.count + wills.count }
    }

    /// A kick in a row that is to go: its timer, as the record names it, and the version it made.
    struct CarriedKick {
        var hash: UInt32
        var base: Int64
        var version: Int64
    }

    /// An event of a delivery in a row that is to go.
    struct CarriedDelivery {
        var id: Int64
        /// The id that the event has: see `RecordCodec`.
        var origin: Int64
        /// Position of the record that holds the event.
        var position: Int64
        /// The event's record, without frame.
        var event: [UInt8]
    }
}
