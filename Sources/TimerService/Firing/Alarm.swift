import Dispatch
import Platform

/// An alarm that wakes the fire loop at an instant. `AlarmKind` lists those of the server; tests have a manual one.
public protocol Alarm: AnyObject, Sendable {
    /// Whether a step of the calendar ends a `wait`.
    var seesCalendarSteps: Bool { get }
    /// Plans the next wake-up, in place of the one before. May be called on any thread.
    ///
    /// - Parameters:
    ///   - boottime: nanoseconds since boot, `Int64.max` for none.
    func arm(boottime: Int64)
    /// Sleeps until the planned instant, a `ring`, a step of the calendar, or for `milliseconds`. Called on the
    /// fire loop's thread only.
    func wait(milliseconds: Int32)
    /// Ends a `wait` now. May be called on any thread.
    func ring()
}

extension Alarm {
    /// False: the calendar is to be read.
    public var seesCalendarSteps: Bool { false }
}

/// The kinds of alarm that can wake the fire loop of a server.
public enum AlarmKind: String, CaseIterable, Sendable {
    /// `TimerFDAlarm`.
    case timerfd
    /// `DispatchAlarm`.
    case dispatch

    /// Makes an alarm that is not armed.
    public func make() -> any Alarm {
        switch self {
        case .timerfd: TimerFDAlarm()
        case .dispatch: DispatchAlarm()
        }
    }
}

/// The alarm over `timerfd`, which alone sees clock steps and system sleep.
public final class TimerFDAlarm: Alarm {
    private let due = TimerFD(.boottime)
    private let calendar = TimerFD(.realtime)
    private let bell = EventFD()
    private let epoll = Epoll()

    /// An instant that never comes, in nanoseconds: a calendar timer must be armed to report steps.
    private static let farFuture: Int64 = 9_000_000_000_000_000_000

    /// Makes an alarm that is not armed.
    public init() {
        epoll.add(due.descriptor, .readable, tag: 0)
        epoll.add(calendar.descriptor, .readable, tag: 1)
        epoll.add(bell.descriptor, .readable, tag: 2)
        calendar.set(Self.farFuture)
    }

    /// True: the kernel reports them.
    public var seesCalendarSteps: Bool { true }

    /// Arms the kernel's timer.
    public func arm(boottime: Int64) { due.set(boottime == .max ? 0 : max(1, boottime)) }

    /// Waits in `epoll`.
    public func wait(milliseconds: Int32) {
        var events: [Epoll.Event] = []
        epoll.wait(&events, milliseconds: milliseconds)
        for event in events {
            switch event.tag {
            case 0: _ = due.drain()
            case 1:
                // A step between the two calls is reported by the second; in either case the wait is over.
                _ = calendar.drain()
                calendar.set(Self.farFuture)
            default: bell.drain()
            }
        }
    }

    /// Signals an eventfd.
    public func ring() { bell.signal() }
}

/// The alarm over a `DispatchSourceTimer`, which avoids the four steps that crash one.
///
/// | what crashes | why it can't happen here |
/// |---|---|
/// | release before activation | the source is activated in `init`, before it can be released |
/// | release while suspended | nothing suspends it: a disarmed alarm has a deadline that never comes |
/// | more resumes than suspends | nothing resumes it |
/// | resume after cancel | the one cancel is in `deinit`, after which nothing is called |
///
/// The deadlines are on the uptime clock, which stops while the machine sleeps, and no step of the calendar wakes
/// the alarm. `TimerFDAlarm` covers both, so the server uses that unless it is set otherwise. Here a wake-up that
/// comes too soon is planned again, and the fire loop looks at the clocks once a second anyway.
public final class DispatchAlarm: Alarm, @unchecked Sendable {
    // Unchecked: Dispatch does not declare that its sources take calls from any thread, which they do.
    private struct State {
        /// The instant of the next wake-up, in nanoseconds since boot; `Int64.max` for none.
        var deadline = Int64.max
        var isDue = false
        var isRung = false

        /// Takes the wake-up or the ring that came; nil where none did.
        mutating func take() -> Void? {
            guard isDue || isRung else { return nil }
            isDue = false
            isRung = false
            return ()
        }
    }

    private let state = Guarded(State())
    private let source: any DispatchSourceTimer

    /// Makes an alarm that is not armed.
    public init() {
        source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "alarm"))
        source.schedule(deadline: .distantFuture)
        source.setEventHandler { [weak self] in self?.reached() }
        source.activate()
    }

    deinit { source.cancel() }

    /// Plans the source's next event. An earlier wake-up that already came no longer counts.
    public func arm(boottime: Int64) {
        state.withLock { state in
            state.deadline = max(0, boottime)
            state.isDue = false
            plan(state.deadline)
        }
    }

    /// Waits on a condition.
    public func wait(milliseconds: Int32) {
        if milliseconds < 0 {
            state.wait { $0.take() }
        } else {
            _ = state.wait(nanoseconds: Int64(milliseconds) * 1_000_000) { $0.take() }
        }
    }

    /// Signals the condition.
    public func ring() { state.update { $0.isRung = true } }

    /// Plans the source's event for `deadline`. Called under the lock, so that the last `arm` is the one that counts.
    private func plan(_ deadline: Int64) {
        guard deadline != .max else { return source.schedule(deadline: .distantFuture) }
        let left = max(0, deadline - Clocks.boottime())
        source.schedule(deadline: .now() + .nanoseconds(Int(left)), leeway: .nanoseconds(0))
    }

    /// Handles the source's event, on the source's queue. The event may be one of an earlier plan.
    private func reached() {
        state.update { state in
            guard state.deadline != .max else { return }
            guard Clocks.boottime() >= state.deadline else { return plan(state.deadline) }
            state.deadline = .max
            state.isDue = true
        }
    }
}
