/// A count of timers by the instant of their next fire, in equal buckets from now on, a bounded step at a time.
///
/// The count goes once over the table. Between two steps the timers may change: a timer that exists throughout is
/// counted once, as it is when the count comes to it.
public struct DueCount: Sendable {
    /// The slots that a step looks at; one whose rules have to be asked counts as `look`.
    public static let stepLimit = 4096
    private static let look = 16

    /// The length of all buckets together, in milliseconds.
    public let span: Int64
    /// The instant at which the count began and the first bucket begins, in wall milliseconds.
    public private(set) var from: Int64 = 0
    /// The number of timers in each bucket.
    public private(set) var counts: [Int]
    /// The number of timers whose next fire was due before `from`.
    public private(set) var overdue = 0
    /// The number of timers whose next fire is after the last bucket.
    public private(set) var later = 0
    /// Whether the count is over.
    public private(set) var isDone = false
    /// The slot with which the next step begins.
    private var next = 0
    /// The identity of the table that is counted; nil before the first step.
    private var era: RecentArmings.Era?

    /// Makes a count.
    ///
    /// - Parameters:
    ///   - span: as in the member; 1 to 2^40.
    ///   - buckets: the number of buckets; 1 to 2^20.
    public init(span: Int64, buckets: Int) {
        self.span = span
        counts = [Int](repeating: 0, count: buckets)
    }

    /// Continues the count by one step; it begins again where the timers are those of another table. Returns whether
    /// the count is over.
    public mutating func step(
        _ scheduler: borrowing Scheduler, _ now: Now, limit: Int = Self.stepLimit
    ) -> Bool {
        if era !== scheduler.recentArmings.era {
            self = DueCount(span: span, buckets: counts.count)
            era = scheduler.recentArmings.era
            from = now.wall
        }
        var budget = limit
        while budget > 0, next < scheduler.table.slotCount {
            budget -= take(SlotIndex(next), scheduler, now)
            next += 1
        }
        isDone = next >= scheduler.table.slotCount
        return isDone
    }

    /// Counts the timer at `slot`. Returns the cost.
    private mutating func take(_ slot: SlotIndex, _ scheduler: borrowing Scheduler, _ now: Now) -> Int {
        let timer = scheduler.table[slot]
        guard timer.inUse, timer.isPlanned else { return 1 }
        if timer.traits.contains(.punctual), !timer.traits.contains(.calendar) {
            count(now.wall(of: timer.due, on: timer.traits.clock))
            return 1
        }
        if let due = scheduler.progress(slot).nextFireAt(scheduler.rules(slot), now) { count(due) }
        return Self.look
    }

    private mutating func count(_ due: Int64) {
        let distance = due - from
        if distance < 0 {
            overdue += 1
        } else if distance < span {
            counts[Int(distance * Int64(counts.count) / span)] += 1
        } else {
            later += 1
        }
    }
}
