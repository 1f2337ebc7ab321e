import TimerLog
import TimerService

/// What everything on a page reflects, or what a stream begins behind: all up to the event with an id.
///
/// Of a single partition that is its newest record when it was looked at. Of several it is the newest event that was shown
/// when the request came, once each partition gives its later records greater ids: so a client who follows from there on
/// misses nothing, and is shown nothing that was answered before.
struct PageMark {
    private var position: Int64?
    /// The newest event of all partitions when the mark was made; nil for a log that is not divided.
    private let newest: Int64?
    /// Numbers of the partitions that were looked at.
    private var seen: Set<Int> = []

    /// The mark of a log that is not divided.
    init() { newest = nil }

    /// The mark of several partitions, at most the newest event of all.
    init(newest: Int64) {
        position = newest
        self.newest = newest
    }

    /// The event; nil before the first partition was looked at.
    var head: EventID? { position.map { EventID($0) } }

    /// The event at which a replay ends. It has everything that was answered before, so records that are under way in another
    /// partition, below which the mark stays, are waited for.
    var end: Int64? { newest ?? position }

    /// Notes that a partition is looked at now.
    mutating func note(_ turn: borrowing Turn, _ partition: Int) {
        if newest == nil {
            if position == nil { position = turn.head }
        } else if seen.insert(partition).inserted, let goal = position {
            position = turn.watermark(atMost: goal)
        }
    }
}
