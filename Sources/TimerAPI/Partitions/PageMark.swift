import TimerLog
import TimerService

/// What everything on a page reflects: all up to the event with an id.
///
/// Of a single partition that is its newest record when the page was begun. Of several it is an id below which no
/// partition has anything to come once it was looked at, so that a client who follows from there on misses nothing.
struct PageMark {
    private let layout: PartitionLayout
    private var position: Int64?
    /// Numbers of the partitions that were looked at.
    private var seen: Set<Int> = []

    init(_ layout: PartitionLayout) { self.layout = layout }

    /// The event; nil before the first partition was looked at.
    var head: EventID? { position.map { EventID($0) } }

    /// Notes that a partition is looked at now.
    mutating func note(_ turn: borrowing Turn, _ partition: Int) {
        guard layout.count > 1 else {
            if position == nil { position = turn.head }
            return
        }
        guard seen.insert(partition).inserted else { return }
        position = turn.watermark(atMost: position ?? turn.clockPosition)
    }
}
