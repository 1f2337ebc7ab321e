/// A search for the running timers that are due soonest after a place, a bounded step at a time.
///
/// The search looks at the slots of the wheels in time order, and within a slot first at the runs of entries that
/// begin soonest, until no run can hold a timer due sooner than those found. Between two steps the timers may
/// change: timers armed meanwhile are looked at too, and at the end every timer found is looked at once more. So a
/// timer that keeps its place is found as by a single step.
public struct SoonestSearch {
    /// The entries that a step passes over; one whose timer must be looked at counts as `look`.
    public static let stepLimit = 1 << 16
    private static let look = 16
    /// The most doublings of a step. Each time that the wheel moves past a search's place, the search begins again
    /// with steps of twice the size, so that it comes to its end.
    private static let mostDoublings = 16

    /// The timers that are searched at present: those in one of the wheels, or those that are in no wheel.
    private enum Stage {
        case elapsed, wall
        /// Timers that a rebuild of the wall wheel has not moved yet, from this slot on.
        case rebuild(Int)
        /// Timers that catch up, from this place in their queue on.
        case catchUp(Int)
    }

    /// The scheduler's state at a pause, from which the next step finds whether the search can go on.
    private struct Pause {
        let era: RecentArmings.Era
        let armings: Int
        let wallOffset: Int64
        let downtime: Int64
        /// The state of the wheel that is being searched; nil if none is.
        var wheel: WheelPause?
    }

    /// The state of a wheel at a pause within it.
    private struct WheelPause {
        let sweeps: Int
        let detachments: Int
        /// The start of the slot whose runs are left; `Int64.max` for those that were taken apart.
        let start: Int64
    }

    private let limit: Int
    private var nearest: NearestPlaces
    private var stage = Stage.elapsed
    /// The slot of the wheel before which all are done; nil while those that were taken apart are not.
    private var slot: Int?
    private var runs = RunHeap()
    /// Whether `runs` are those of the slots that were taken apart.
    private var isListed = false
    private var pause: Pause?
    private var restarts = 0
    private var budget = 0

    /// The timers found, soonest first.
    public private(set) var found: [(place: Scheduler.DuePlace, slot: SlotIndex)] = []
    /// The place up to which every timer was found; nil when there is none beyond.
    public private(set) var next: Scheduler.DuePlace?

    /// Makes a search for `limit` timers after the place `after`, or from the first if that is nil.
    public init(after: Scheduler.DuePlace?, limit: Int) {
        self.limit = limit
        // One more, to know whether there are any beyond.
        nearest = NearestPlaces(limit: limit + 1, after: after)
    }

    /// Continues the search by one step. Returns whether the search is over.
    public mutating func step(
        _ scheduler: borrowing Scheduler, _ now: Now, limit: Int = Self.stepLimit
    ) -> Bool {
        resume(scheduler, now)
        budget = limit << min(restarts, Self.mostDoublings)
        while true {
            switch stage {
            case .elapsed:
                guard search(scheduler.elapsedWheel, scheduler, now) else { return false }
                enter(.wall)
            case .wall:
                guard search(scheduler.wallWheel, scheduler, now) else { return false }
                enter(.rebuild(0))
            case .rebuild(let from):
                guard lookThroughRebuild(from, scheduler, now) else { return false }
                enter(.catchUp(0))
            case .catchUp(let from):
                guard lookThroughCatchUp(from, scheduler, now) else { return false }
                finish(scheduler, now)
                return true
            }
        }
    }

    private mutating func enter(_ stage: Stage) {
        self.stage = stage
        slot = nil
        isListed = false
        // Runs that are left belong to the previous wheel.
        runs = RunHeap()
    }

    private var isWallWheel: Bool {
        if case .wall = stage { true } else { false }
    }

    /// Looks at the timers armed since the step before, or begins again if the search can't go on.
    private mutating func resume(_ scheduler: borrowing Scheduler, _ now: Now) {
        guard let pause else { return }
        guard pause.era === scheduler.recentArmings.era, pause.wallOffset == now.wallOffset,
            pause.downtime == now.downtime, let armed = scheduler.recentArmings.after(pause.armings),
            pause.wheel.map({ isValid($0, scheduler) }) ?? true
        else {
            nearest = NearestPlaces(limit: nearest.limit, after: nearest.after)
            enter(.elapsed)
            restarts += 1
            self.pause = nil
            return
        }
        for slot in armed { consider(slot, scheduler, now) }
    }

    /// Whether the rest of a wheel is where it was. The slots taken apart are listed again if there are more since.
    private mutating func isValid(_ pause: WheelPause, _ scheduler: borrowing Scheduler) -> Bool {
        isWallWheel ? isValid(pause, scheduler.wallWheel) : isValid(pause, scheduler.elapsedWheel)
    }

    private mutating func isValid(_ pause: WheelPause, _ wheel: borrowing TimerWheel) -> Bool {
        if slot != nil { return wheel.position < pause.start && wheel.sweeps == pause.sweeps }
        if wheel.detachments != pause.detachments { isListed = false }
        return true
    }

    private mutating func rest(_ scheduler: borrowing Scheduler, _ now: Now, in wheel: WheelPause? = nil) {
        pause = Pause(
            era: scheduler.recentArmings.era, armings: scheduler.recentArmings.count, wallOffset: now.wallOffset,
            downtime: now.downtime, wheel: wheel)
    }

    /// Looks through a wheel. Returns true once that is over, false after a pause.
    private mutating func search(
        _ wheel: borrowing TimerWheel, _ scheduler: borrowing Scheduler, _ now: Now
    ) -> Bool {
        let offset = isWallWheel ? 0 : now.wallOffset
        if slot == nil && !isListed {
            list(wheel.runs(in: nil), offset, scheduler)
            isListed = true
        }
        while true {
            while let run = runs.first, run.earliest <= latest(offset, scheduler) {
                if budget <= 0 {
                    let pause = WheelPause(
                        sweeps: wheel.sweeps, detachments: wheel.detachments,
                        start: slot.map { wheel.start(of: $0 - 1) } ?? .max)
                    rest(scheduler, now, in: pause)
                    return false
                }
                runs.removeFirst()
                look(through: run, wheel, scheduler, now)
            }
            nearest.trim()
            guard let next = wheel.nextSlot(from: slot ?? 0),
                wheel.earliest(in: next) <= latest(offset, scheduler)
            else { return true }
            list(wheel.runs(in: next), offset, scheduler)
            slot = next + 1
        }
    }

    private mutating func list(_ listed: [TimerWheel.Run], _ offset: Int64, _ scheduler: borrowing Scheduler) {
        budget -= listed.count
        let earliest = earliest(offset, scheduler)
        runs = RunHeap(listed.filter { $0.latest >= earliest })
    }

    /// Looks at timers that are in no wheel while the wall wheel is rebuilt. Returns true once that is over, false
    /// after a pause. Timers that are moved meanwhile are among those armed last.
    private mutating func lookThroughRebuild(_ from: Int, _ scheduler: borrowing Scheduler, _ now: Now) -> Bool {
        guard let rebuildFrom = scheduler.rebuildFrom else { return true }
        let start = max(from, Int(rebuildFrom))
        for place in start..<max(start, scheduler.table.slotCount) {
            if budget <= 0 {
                stage = .rebuild(place)
                rest(scheduler, now)
                return false
            }
            budget -= 1
            guard scheduler.waitsForRebuild(SlotIndex(place)) else { continue }
            budget -= Self.look
            consider(SlotIndex(place), scheduler, now)
        }
        return true
    }

    /// Looks at timers that catch up. Returns true once that is over, false after a pause. Timers that are put to
    /// the end meanwhile are among those armed last.
    private mutating func lookThroughCatchUp(_ from: Int, _ scheduler: borrowing Scheduler, _ now: Now) -> Bool {
        var place = max(from, scheduler.catchUp.taken)
        while let entry = scheduler.catchUp.entry(at: place) {
            if budget <= 0 {
                stage = .catchUp(place)
                rest(scheduler, now)
                return false
            }
            place += 1
            budget -= Self.look
            if scheduler.table[entry.slot].generation == entry.generation { consider(entry.slot, scheduler, now) }
        }
        return true
    }

    /// Returns the instant after which no entry belongs to a wanted timer: a timer is due at most the widest slack
    /// before its entry.
    private func latest(_ offset: Int64, _ scheduler: borrowing Scheduler) -> Int64 {
        nearest.bound.map { $0.due - offset + scheduler.widestSlack } ?? .max
    }

    /// Returns the instant before which no entry belongs to a wanted timer; `Int64.min` if timers may be due later
    /// than their entries are.
    private func earliest(_ offset: Int64, _ scheduler: borrowing Scheduler) -> Int64 {
        guard let after = nearest.after else { return .min }
        let mayMove = scheduler.table.mayHoldWatchdogs || (!isWallWheel && scheduler.table.suspendingCount > 0)
        if mayMove { return .min }
        // The place comes from a client and may be any.
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

    /// Sets the results; after a pause, those that still hold.
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
    /// Whether the place of the timer at `slot` in the order of soonest due is `place`.
    public func isDue(_ slot: SlotIndex, at place: DuePlace, _ now: Now) -> Bool {
        plannedWall(slot, now) == place.due && table.order(of: slot) == place.place
    }

    /// Returns the instant at which the timer at `slot` is due, in wall milliseconds; nil unless a fire is planned.
    fileprivate func plannedWall(_ slot: SlotIndex, _ now: Now) -> Int64? {
        guard table[slot].inUse, table[slot].isPlanned else { return nil }
        let clock = table[slot].traits.clock
        guard table[slot].flags.contains(.awaiting) else { return now.wall(of: table[slot].due, on: clock) }
        return now.wall(of: table.progress(slot).fireDue(rules(slot), now), on: clock)
    }
}

/// A binary heap of runs of entries; the first is the one that begins soonest.
private struct RunHeap {
    private var runs: [TimerWheel.Run] = []

    init(_ runs: [TimerWheel.Run] = []) {
        self.runs = runs
        for index in stride(from: runs.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    var first: TimerWheel.Run? { runs.first }

    /// Removes the first run; there is one.
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
