import Platform

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
