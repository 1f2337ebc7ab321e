import Platform

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
