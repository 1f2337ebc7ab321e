import Platform
import TimerLog

/// Which partitions the fire loop serves next. Confined to its thread.
struct FireRounds {
    private var owned: Published<PartitionMap>.Copy
    private let schedule: FireSchedule
    private let bell: CommitBell
    /// Partitions that have a step in the round at hand, in their order.
    private var due: [Partition] = []
    /// By the numbers of partitions: the last round in which each had a step.
    private var lastRound: [Int]
    private var round = 0
    /// Partitions that had more to fire after their last step, and those that wait for the disk or for sockets.
    private var unfinished: [Partition] = []
    private var held: [Partition] = []
    private var pace = LoopPace()
    /// When all partitions have a step next, and when their time bases are written next; nanoseconds since boot.
    private var sweepAt = Int64.min
    private var ticksAt = Int64.min
    /// By how much the calendar was ahead at the last round.
    private var calendarOffset: Int64 = 0
    /// Whether the loop comes from a sleep.
    private var isWoken = true

    /// From one round of all partitions to the next, in nanoseconds.
    static let sweepInterval = Int64(FireLoop.longestSleep) * 1_000_000
    /// A calendar that moved by so many nanoseconds was set: engines follow that at once.
    private static let calendarStep: Int64 = 1_000_000

    init(_ partitions: Published<PartitionMap>, _ shared: SharedParts) {
        owned = Published.Copy(partitions)
        schedule = shared.schedule
        bell = shared.bell
        lastRound = [Int](repeating: 0, count: partitions.value.layout.count)
    }

    /// Lets each partition that is due take a step.
    mutating func step(_ heart: Heartbeat) -> Engine.FireStep {
        _ = owned.refresh()
        if schedule.isSingle, let only = owned.value.all.first {
            heart.beat()
            let step = only.engine.fire()
            unfinished = [only]
            return step
        }
        let now = schedule.boottime
        // Also where there is no partition.
        heart.beat()
        pace.seen(at: now)
        let order = collectDue(at: now)
        unfinished.removeAll(keepingCapacity: true)
        held.removeAll(keepingCapacity: true)
        for partition in due {
            heart.beat()
            pace.seen(at: schedule.boottime)
            var order = order
            order.stoodStillThrough = pace.stoodStillThrough
            switch partition.engine.fire(order) {
            case .done: break
            case .more: unfinished.append(partition)
            case .held: held.append(partition)
            }
        }
        if !order.rings && bell.hasListed { bell.ring() }
        return unfinished.isEmpty ? held.isEmpty ? .done : .held : .more
    }

    /// Fills `due`: what means to wake by `now`, in the order of those instants, then what had more to do; or all partitions.
    private mutating func collectDue(at now: Int64) -> FireRound {
        round += 1
        due.removeAll(keepingCapacity: true)
        var numbers: [Int] = []
        schedule.takeDue(at: now) { numbers.append($0) }
        for number in numbers { add(owned.value[number]) }
        for partition in unfinished + held { add(owned.value[partition.number]) }
        let offset = schedule.calendarOffset
        let isSet = abs(offset - calendarOffset) > Self.calendarStep
        calendarOffset = offset
        // Woken for nothing that is known: the alarm also ends a sleep when the calendar is set.
        let isUnexplained = isWoken && due.isEmpty
        isWoken = false
        guard now >= sweepAt || isSet || isUnexplained else { return FireRound() }
        sweepAt = now + Self.sweepInterval
        for partition in owned.value.all { add(partition) }
        var order = FireRound()
        if now >= ticksAt {
            ticksAt = now + Engine.tickInterval
            // What is younger is young enough at the next time: no base is older than with one partition.
            order.ticksAfter = Self.sweepInterval
            order.rings = false
        }
        return order
    }

    private mutating func add(_ partition: Partition?) {
        guard let partition, lastRound[partition.number] != round else { return }
        lastRound[partition.number] = round
        due.append(partition)
    }

    /// Lets threads that wait for an engine which has more to fire take its lock, for about as long as with one partition.
    mutating func letOthersIn() {
        let naps = max(1, Lock.mostNaps / max(1, unfinished.count))
        for partition in unfinished { partition.engine.letOthersIn(naps: naps) }
    }

    /// Arms the alarm for the next waking. Returns how long the loop may sleep at most, in milliseconds.
    mutating func prepareSleep(milliseconds: Int32) -> Int32 {
        isWoken = true
        let wake = schedule.armForSleep()
        if schedule.isSingle { return milliseconds }
        let now = schedule.boottime
        let left = min(Int64(milliseconds), max(0, sweepAt - now) / 1_000_000 + 1)
        pace.sleep(until: min(wake, now + left * 1_000_000))
        return Int32(left)
    }
}
