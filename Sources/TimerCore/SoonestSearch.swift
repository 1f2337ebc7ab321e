/// A search for the running timers that are due soonest after a place, a bounded step at a time.
///
/// It looks at the slots of the wheels in time order, and of a slot first at those runs of entries that begin soonest,
/// until none can hold anything sooner than what it has. Between two steps the timers may change: those that are armed
/// meanwhile are looked at too, and in the end what was found is looked at once more. So whoever keeps its place is
/// found as by a single step.
public struct SoonestSearch {
    /// Entries that a step passes over; one that needs its timer looked at counts as `look`.
    public static let stepLimit = 1 << 16
    private static let look = 16
    /// So often a search begins anew, as the wheel moved away under it; then it goes through in one step.
    private static let mostRestarts = 3

    /// What a pause rests on.
    private struct Pause {
        let era: RecentArmings.Era
        let armings: Int
        let sweeps: [Int]
        let wallOffset: Int64
        let downtime: Int64
        /// Where the slot begins whose runs are left, on its wheel.
        let start: Int64
    }

    private let limit: Int
    private var nearest: NearestPlaces
    private var isWallWheel = false
    /// Slots of the wheel before this one are done; nil: what is in transit is not.
    private var slot: Int?
    private var runs = RunHeap()
    private var pause: Pause?
    private var restarts = 0
    private var budget = 0

    /// The timers found, soonest first.
    public private(set) var found: [(place: Scheduler.DuePlace, slot: SlotIndex)] = []
    /// Up to here every timer was found; nil when there is none beyond.
    public private(set) var next: Scheduler.DuePlace?

    /// A search for `limit` timers after the place `after`; from the first when that is nil.
    public init(after: Scheduler.DuePlace?, limit: Int) {
        self.limit = limit
        // One more tells whether there is anything beyond.
        nearest = NearestPlaces(limit: limit + 1, after: after)
    }

    /// Goes on. Returns whether the search is over.
    public mutating func step(
        _ scheduler: borrowing Scheduler, _ now: Now, limit: Int = Self.stepLimit
    ) -> Bool {
        resume(scheduler, now)
        budget = restarts < Self.mostRestarts ? limit : .max
        if !isWallWheel {
            guard search(scheduler.elapsedWheel, scheduler, now) else { return false }
            isWallWheel = true
            slot = nil
            // What is left of them lies in the other wheel.
            runs = RunHeap()
        }
        guard search(scheduler.wallWheel, scheduler, now) else { return false }
        for slot in scheduler.waitingForRebuild { consider(slot, scheduler, now) }
        scheduler.catchUp.forEach { entry in
            if scheduler.table[entry.slot].generation == entry.generation { consider(entry.slot, scheduler, now) }
        }
        finish(scheduler, now)
        return true
    }

    /// Takes up what changed since the step before, or begins anew.
    private mutating func resume(_ scheduler: borrowing Scheduler, _ now: Now) {
        guard let pause else { return }
        let position = isWallWheel ? scheduler.wallWheel.position : scheduler.elapsedWheel.position
        guard pause.era === scheduler.recentArmings.era, position < pause.start, pause.sweeps == scheduler.sweeps,
            pause.wallOffset == now.wallOffset, pause.downtime == now.downtime,
            let armed = scheduler.recentArmings.after(pause.armings)
        else {
            nearest = NearestPlaces(limit: nearest.limit, after: nearest.after)
            isWallWheel = false
            slot = nil
            runs = RunHeap()
            restarts += 1
            self.pause = nil
            return
        }
        for slot in armed { consider(slot, scheduler, now) }
    }

    /// Looks through a wheel. Returns whether that is over, or else pauses.
    private mutating func search(
        _ wheel: borrowing TimerWheel, _ scheduler: borrowing Scheduler, _ now: Now
    ) -> Bool {
        let offset = isWallWheel ? 0 : now.wallOffset
        if slot == nil {
            // In one go: it is being dealt out.
            runs = RunHeap(wheel.runs(in: nil))
            while let run = runs.first, run.earliest <= latest(offset, scheduler) {
                runs.removeFirst()
                look(through: run, wheel, scheduler, now)
                nearest.trim()
            }
            runs = RunHeap()
            slot = 0
        }
        while true {
            while let run = runs.first, run.earliest <= latest(offset, scheduler) {
                if budget <= 0 {
                    pause = Pause(
                        era: scheduler.recentArmings.era, armings: scheduler.recentArmings.count,
                        sweeps: scheduler.sweeps, wallOffset: now.wallOffset, downtime: now.downtime,
                        start: wheel.start(of: (slot ?? 1) - 1))
                    return false
                }
                runs.removeFirst()
                look(through: run, wheel, scheduler, now)
            }
            nearest.trim()
            guard let next = wheel.nextSlot(from: slot ?? 0),
                wheel.earliest(in: next) <= latest(offset, scheduler)
            else { return true }
            let listed = wheel.runs(in: next)
            budget -= listed.count
            let earliest = earliest(offset, scheduler)
            runs = RunHeap(listed.filter { $0.latest >= earliest })
            slot = next + 1
        }
    }

    /// An entry for a later instant is of no timer that is wanted: each is due at most the widest slack before it.
    private func latest(_ offset: Int64, _ scheduler: borrowing Scheduler) -> Int64 {
        nearest.bound.map { $0.due - offset + scheduler.widestSlack } ?? .max
    }

    /// An entry for an earlier instant is of no timer that is wanted, unless timers may have moved on since.
    private func earliest(_ offset: Int64, _ scheduler: borrowing Scheduler) -> Int64 {
        guard let after = nearest.after else { return .min }
        let mayMove = scheduler.table.mayHoldWatchdogs || (!isWallWheel && scheduler.table.suspendingCount > 0)
        if mayMove { return .min }
        // The place is one that a client names, and may be any.
        let (instant, overflow) = after.due.subtractingReportingOverflow(offset)
        return overflow ? (offset > 0 ? .min : .max) : instant
    }

    private mutating func look(
        through run: TimerWheel.Run, _ wheel: borrowing TimerWheel, _ scheduler: borrowing Scheduler, _ now: Now
    ) {
        let offset = isWallWheel ? 0 : now.wallOffset
        let earliest = earliest(offset, scheduler)
        let latest = latest(offset, scheduler)
        wheel.forEach(in: run) { entry in
            budget -= 1
            guard entry.due >= earliest, entry.due <= latest else { return }
            budget -= Self.look
            if scheduler.table.isArmed(with: entry) { consider(entry.slot, scheduler, now) }
        }
    }

    private mutating func consider(_ slot: SlotIndex, _ scheduler: borrowing Scheduler, _ now: Now) {
        guard let due = scheduler.plannedWall(slot, now), nearest.mayTake(due, scheduler.hash(slot)) else { return }
        nearest.take(Scheduler.DuePlace(due: due, place: scheduler.table.order(of: slot)), slot)
    }

    /// Tells what was found; after a pause, what of it still stands.
    private mutating func finish(_ scheduler: borrowing Scheduler, _ now: Now) {
        found = nearest.sorted()
        let bound = nearest.bound
        if pause != nil {
            let seen = Set(found.map(\.slot))
            nearest = NearestPlaces(limit: limit + 1, after: nearest.after)
            for slot in seen { consider(slot, scheduler, now) }
            found = nearest.sorted().filter { entry in bound.map { entry.place <= $0 } ?? true }
        }
        next = found.count > limit ? found[limit - 1].place : bound
        found = Array(found.prefix(limit))
    }
}

extension Scheduler {
    /// How often slots of each wheel were swept.
    fileprivate var sweeps: [Int] { [elapsedWheel.sweeps, wallWheel.sweeps] }

    /// When the timer at `slot` is due, in wall milliseconds; nil unless a fire is planned.
    fileprivate func plannedWall(_ slot: SlotIndex, _ now: Now) -> Int64? {
        guard table[slot].inUse, table[slot].isPlanned else { return nil }
        return now.wall(of: table[slot].due, on: table[slot].traits.clock)
    }
}

/// Runs of entries, that first which begins soonest: a binary heap.
private struct RunHeap {
    private var runs: [TimerWheel.Run] = []

    init(_ runs: [TimerWheel.Run] = []) {
        self.runs = runs
        for index in stride(from: runs.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    var first: TimerWheel.Run? { runs.first }

    /// Takes out the first of some.
    mutating func removeFirst() {
        runs.swapAt(0, runs.count - 1)
        runs.removeLast()
        sink(0)
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < runs.count {
                if runs[child].earliest < runs[least].earliest { least = child }
            }
            if least == index { return }
            runs.swapAt(index, least)
            index = least
        }
    }
}
