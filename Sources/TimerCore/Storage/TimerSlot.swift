/// The table's entry for a timer: 72 bytes, and 32 more once it has fired.
struct TimerSlot: BitwiseCopyable {
    /// The encoded definition.
    var definition = Blob.empty
    /// The position of the timer's newest event.
    var lastEvent: Int64 = 0
    /// The position of the newest record that holds the timer's definition: rows from there on are needed to
    /// rebuild the timer.
    var base: Int64 = 0
    /// A part of the timer's progress, as are the next two: see the members of `TimerProgress`.
    var version: Int64 = 0
    var updatedAt: Int64 = 0
    var due: Int64 = 0
    /// The index of the timer's `FireSlot`, plus one; 0 while every value there would be 0.
    var fires: UInt32 = 0
    /// The top half of the keyed hash of the timer's name, which the index keeps.
    var hash: UInt32 = 0
    /// The number of armings, disarmings and reuses, by which live wheel entries are known from dead ones.
    var generation: UInt32 = 0
    /// The place of the newest of the timer's pending deliveries; 0 for none.
    var deliveries: UInt32 = 0
    var state = TimerState.idle
    var flags: TimerProgress.Flags = []
    /// Whether the slot holds a timer.
    var inUse = false
    /// Whether the due instant had passed when a command planned it: a late fire is then no misfire.
    var plannedPast = false
    /// The wheel or queue that the timer is in.
    var armed = Armed.no
    /// The build of the wheel in which the timer was armed: see `Scheduler.rebuildWallWheel`.
    var wheelBuild: UInt8 = 0
    /// The properties of the definition that a pass over all timers reads.
    var traits: Definition.Traits = []
    /// A part of the timer's progress: see `TimerProgress`.
    var edition: UInt8 = 0

    /// Copies the progress, but for what `FireSlot` keeps.
    mutating func take(_ progress: TimerProgress) {
        version = progress.version
        updatedAt = progress.updatedAt
        due = progress.due
        state = progress.state
        flags = progress.flags
        edition = progress.edition
    }

    /// The clock that the due instant of a running timer is on.
    var dueClock: TimerClock { flags.contains(.awaiting) ? .wall : traits.clock }

    /// Whether a fire is planned, at `due`.
    var isPlanned: Bool { state == .running && !flags.contains(.unplanned) }

    /// The cost of firing the timer, in small timers that fire: its definition is copied, and its schedule may have to be read.
    var weight: Int {
        let reading = traits.contains(.rule) ? ScheduleCache.recurrenceCost : traits.contains(.zoned) ? 1 : 0
        return 1 + definition.count / Self.weightBytes + reading
    }

    /// The bytes of a definition that cost as much to copy as a small timer costs to fire.
    private static let weightBytes = 2048

    /// Whether the timer is a watchdog that alarms now.
    var isAlarming: Bool { state == .running && flags.contains(.stalled) }

    enum Armed: UInt8, BitwiseCopyable {
        case no, elapsed, suspending, wall, catchUp
    }
}

/// The part of a timer's progress that is kept beside its slot once it has fired: see the members of `TimerProgress`.
struct FireSlot: BitwiseCopyable {
    var lastFiredAt: Int64 = 0
    var fireCount: Int64 = 0
    var missedCount: Int64 = 0
    var firesSinceActivation: Int64 = 0
}

/// The part of a watchdog that is kept beside its slot.
struct KickSlot: BitwiseCopyable {
    var progress = KickProgress()
    /// The position of a record in the batch of the newest kick: the kick is durable with it; 0 before the first.
    var lastRecord: Int64 = 0
}

/// The place of a timer: an index into the table's slab.
public typealias SlotIndex = UInt32
