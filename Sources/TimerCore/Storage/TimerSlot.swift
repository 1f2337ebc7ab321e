/// What the table keeps of a timer: 72 bytes, and 32 more once it has fired.
struct TimerSlot: BitwiseCopyable {
    /// The encoded definition.
    var definition = Blob.empty
    /// Position of its newest event.
    var lastEvent: Int64 = 0
    /// Position of its newest record that holds its definition: rows from there on are needed to rebuild it.
    var base: Int64 = 0
    /// Of its progress: see the members of `TimerProgress`.
    var version: Int64 = 0
    var updatedAt: Int64 = 0
    var due: Int64 = 0
    /// Where the rest of its progress is, plus one; 0 while all of that is 0.
    var fires: UInt32 = 0
    /// The top half of the keyed hash of its id, which the index keeps.
    var hash: UInt32 = 0
    /// Grows with each arming, disarming and reuse: tells live wheel entries from dead.
    var generation: UInt32 = 0
    /// Place of the newest of its pending deliveries, 0 for none.
    var deliveries: UInt32 = 0
    var state = TimerState.idle
    var flags: TimerProgress.Flags = []
    /// Whether a timer is here.
    var inUse = false
    /// Whether the due instant had passed when a command planned it: then being late makes no misfire of it.
    var plannedPast = false
    /// Whether the timer is in a wheel, and in which.
    var armed = Armed.no
    /// Which build of the wheel it was armed in: see `Scheduler.rebuildWallWheel`.
    var wheelBuild: UInt8 = 0
    /// What a pass over all timers asks of its definition.
    var traits: Definition.Traits = []

    /// Copies the progress, but for what `FireSlot` keeps.
    mutating func take(_ progress: TimerProgress) {
        version = progress.version
        updatedAt = progress.updatedAt
        due = progress.due
        state = progress.state
        flags = progress.flags
    }

    /// The clock that the due instant of a running timer is on.
    var dueClock: TimerClock { flags.contains(.awaiting) ? .wall : traits.clock }

    /// Whether a fire is planned, at `due`.
    var isPlanned: Bool { state == .running && !flags.contains(.unplanned) }

    /// Whether it is a watchdog that alarms now.
    var isAlarming: Bool { state == .running && flags.contains(.stalled) }

    enum Armed: UInt8, BitwiseCopyable {
        case no, elapsed, suspending, wall, catchUp
    }
}
