import Platform

/// The engine's lock, which records what it is held for and how long.
final class MeteredLock: @unchecked Sendable {  // unchecked: `meter` is guarded by `inner`
    private let inner = Lock()
    private(set) var meter: HoldMeter

    /// - Parameter measuresAll: see `HoldMeter`.
    init(measuresAll: Bool) { meter = HoldMeter(measuresAll: measuresAll) }

    /// Takes the lock; waits while another thread holds it. Not recursive.
    func lock(_ cause: HoldCause) {
        inner.lock()
        meter.begin(cause)
    }

    /// Gives the lock back. Only the holder may call.
    func unlock() {
        meter.end()
        inner.unlock()
    }

    /// Runs `body` holding the lock.
    func withLock<Result, Failure: Error>(
        _ cause: HoldCause = .other, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock(cause)
        defer { unlock() }
        return try body()
    }

    /// Waits like `Lock.wait(nanoseconds:)`: the hold ends, and another one of the same cause begins.
    func wait(nanoseconds: Int64) -> Bool {
        let cause = meter.cause
        meter.end()
        defer { meter.begin(cause) }
        return inner.wait(nanoseconds: nanoseconds)
    }

    /// Sleeps while threads wait for the lock, as `Lock.yield` does. The holder may not call.
    func yield(naps: Int = Lock.mostNaps) { inner.yield(naps: naps) }
}

/// The meter of how long a lock is held, in processor time of its holder: it measures one hold in 64, or each.
///
/// The meter is guarded by the lock that it measures. A hold that is not measured costs one decrement.
struct HoldMeter {
    /// The number of holds of which one is measured, unless each is.
    static let sampleInterval = 64

    /// Holds measured, in seconds of processor time.
    private(set) var seconds = Histogram(
        bounds: [0.000001, 0.000005, 0.00001, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.1, 1])
    /// The longest hold of each cause, indexed by `HoldCause`; empty unless every hold is measured.
    private(set) var longest: [LongestHold]
    /// The purpose that the lock is held for.
    private(set) var cause = HoldCause.other
    private let interval: Int
    private var holdsLeft: Int
    private var isMeasuring = false
    private var cpuStart: Int64 = 0
    private var wallStart: Int64 = 0

    /// - Parameter measuresAll: whether every hold is measured, and the longest of each cause kept.
    init(measuresAll: Bool) {
        interval = measuresAll ? 1 : Self.sampleInterval
        holdsLeft = interval
        longest = measuresAll ? HoldCause.allCases.map { _ in LongestHold() } : []
    }

    /// Notes that the lock was taken.
    mutating func begin(_ cause: HoldCause) {
        self.cause = cause
        holdsLeft -= 1
        if holdsLeft == 0 { start() }
    }

    /// Notes that the lock is about to be given back.
    mutating func end() {
        if isMeasuring { finish() }
    }

    @inline(never) private mutating func start() {
        holdsLeft = interval
        isMeasuring = true
        if !longest.isEmpty { wallStart = Clocks.monotonic() }
        cpuStart = Clocks.threadProcessorTime()
    }

    @inline(never) private mutating func finish() {
        isMeasuring = false
        let cpu = Double(Clocks.threadProcessorTime() - cpuStart) / 1e9
        seconds.observe(cpu)
        guard !longest.isEmpty else { return }
        longest[cause.rawValue].count += 1
        guard cpu > longest[cause.rawValue].cpuSeconds else { return }
        longest[cause.rawValue].cpuSeconds = cpu
        longest[cause.rawValue].wallSeconds = Double(Clocks.monotonic() - wallStart) / 1e9
    }
}

/// The purpose that the engine's lock is held for.
public enum HoldCause: Int, CaseIterable, Sendable {
    case turn, fire, commit, compaction, delivery, restart, other

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .turn: "turn"
        case .fire: "fire"
        case .commit: "commit"
        case .compaction: "compaction"
        case .delivery: "delivery"
        case .restart: "restart"
        case .other: "other"
        }
    }
}

/// The longest hold of one cause: of those measured, the one that took the most processor time.
public struct LongestHold: Sendable {
    /// Seconds of processor time that the holder used.
    public var cpuSeconds = 0.0
    /// Seconds that the same hold took by the clock.
    public var wallSeconds = 0.0
    /// How many holds of this cause were measured.
    public var count = 0
}
