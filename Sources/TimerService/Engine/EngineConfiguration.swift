public import TimerCore

/// The bounds and policies of an `Engine`.
public struct EngineConfiguration: Sendable {
    /// The moment from which an answer may leave.
    public var durability = Durability.commit
    /// Most timers; further creates are refused.
    public var maximumTimers = 20_000_000
    /// Most idempotency keys kept.
    public var maximumIdempotencyKeys = 1_000_000
    /// Most bytes of their answers kept.
    public var maximumIdempotencyBytes = 256 << 20
    /// How long events are kept, in milliseconds.
    public var retainMilliseconds: Int64 = 86_400_000
    /// How many bytes of log are kept for events.
    public var retainBytes = 1 << 30
    /// How events are delivered to webhooks.
    public var deliveries = DeliveryConfiguration()
    /// The time zones of cron schedules.
    public var zones: any ZoneSource = UTCOnly()

    /// Whether the service goes on at once where the storage has lost rows that it had promised to keep.
    public var acceptsLosses = false

    /// Whether each hold of the engine's lock is measured, not one in 64; the longest of each cause is then kept.
    public var measuresEveryHold = false

    /// The longest mean append, in nanoseconds, after which a thread that brought a change may make the next one itself.
    var longestLed: Int64 = 1_000_000

    /// Every default.
    public init() {}

    /// Bytes of records that may wait for the disk; above, commands are refused as overload.
    static let maximumBatchBytes = 64 << 20
    /// The most timers that a step fires, moves or plans again. A hold of the lock has one such step; that of the fire loop may have
    /// several.
    static let stepLimit = 64
    /// The most steps that the fire loop takes in one hold of the lock.
    static let mostFireSteps = 8
    /// The nanoseconds of a hold after which the fire loop begins no further step in it.
    static let longestFiring: Int64 = 250_000
    /// The most that the commands of one hold of the lock may cost, in changes of small timers. A command that has
    /// begun is carried out.
    static let holdLimit = 64
    /// Bytes of definitions and records that cost as much to copy as a small timer costs to change.
    static let bytesPerChange = 2048
    /// Timers or deliveries that cost as much to look at as one costs to change.
    static let looksPerChange = 8
}

/// The moment from which an answer may leave.
public enum Durability: Sendable, Equatable {
    /// The answer leaves once every change that it rests on is on disk.
    case commit
    /// The answer leaves at once; changes reach the disk at most that many nanoseconds later: a crash may lose them.
    case interval(Int64)
}
