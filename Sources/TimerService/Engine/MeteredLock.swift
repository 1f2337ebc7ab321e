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
