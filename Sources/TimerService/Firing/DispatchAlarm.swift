import Dispatch
import Platform

/// The alarm over a `DispatchSourceTimer`, kept from the four steps that crash one.
///
/// | what crashes | why it can't happen here |
/// |---|---|
/// | release before activation | the source is activated in `init`, before anybody can let go of it |
/// | release while suspended | nothing suspends it: a disarmed alarm has a deadline that never comes |
/// | more resumes than suspends | nothing resumes it |
/// | resume after cancel | the one cancel is in `deinit`, behind which there is no step |
///
/// Its deadlines are on the uptime clock, which stands still while the machine sleeps, and it hears of no step of the
/// calendar: `TimerFDAlarm` does, so the server uses that. Here a waking that turns out to be too soon is planned anew,
/// and the fire loop looks at the clocks once a second anyway.
public final class DispatchAlarm: Alarm, @unchecked Sendable {  // unchecked: every `var` is guarded by `lock`
    private let lock = Lock()
    private let source: any DispatchSourceTimer
    /// Nanoseconds since boot the next waking is planned for.
    private var deadline = Int64.max
    private var isDue = false
    private var isRung = false

    /// Makes an alarm that is not armed.
    public init() {
        source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "alarm"))
        source.schedule(deadline: .distantFuture)
        source.setEventHandler { [weak self] in self?.reached() }
        source.activate()
    }

    deinit { source.cancel() }

    /// Plans the source's next event. A waking that was planned before and came already counts no longer.
    public func arm(boottime: Int64) {
        lock.withLock {
            deadline = max(0, boottime)
            isDue = false
            plan()
        }
    }

    /// Waits on a condition.
    public func wait(milliseconds: Int32) {
        lock.withLock {
            let end = milliseconds < 0 ? nil : Clocks.monotonic() + Int64(milliseconds) * 1_000_000
            while !isDue && !isRung {
                guard let end else {
                    lock.wait()
                    continue
                }
                let left = end - Clocks.monotonic()
                if left <= 0 { break }
                _ = lock.wait(nanoseconds: left)
            }
            isDue = false
            isRung = false
        }
    }

    /// Signals the condition.
    public func ring() {
        lock.withLock {
            isRung = true
            lock.broadcast()
        }
    }

    private func plan() {
        guard deadline != .max else { return source.schedule(deadline: .distantFuture) }
        let left = max(0, deadline - Clocks.boottime())
        source.schedule(deadline: .now() + .nanoseconds(Int(left)), leeway: .nanoseconds(0))
    }

    /// The source's event; on its queue. It may be one of an earlier plan.
    private func reached() {
        lock.withLock {
            guard deadline != .max else { return }
            guard Clocks.boottime() >= deadline else { return plan() }
            deadline = .max
            isDue = true
            lock.broadcast()
        }
    }
}
