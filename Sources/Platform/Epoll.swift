import CLinux
import Glibc

/// An epoll instance. Confined to one thread; other threads wake it through an `EventFD` that it watches.
public final class Epoll: Sendable {
    /// Events on a descriptor: those to watch for, or those that happened.
    public struct Events: OptionSet, Sendable {
        /// The kernel's bits.
        public let rawValue: UInt32
        /// Wraps the kernel's bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// There is something to read.
        public static let readable = Events(rawValue: EPOLLIN.rawValue)
        /// There is room to write.
        public static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// The peer sends no more.
        public static let peerClosed = Events(rawValue: EPOLLRDHUP.rawValue)
        /// Both directions are closed. Always reported.
        public static let hungUp = Events(rawValue: EPOLLHUP.rawValue)
        /// The descriptor is in error. Always reported.
        public static let failed = Events(rawValue: EPOLLERR.rawValue)
        /// Report changes only, not states.
        public static let edge = Events(rawValue: EPOLLET.rawValue)
    }

    /// A report of events on one descriptor.
    public struct Event: Sendable {
        /// The number given at registration.
        public let tag: UInt64
        /// The events that happened.
        public let events: Events
    }

    private let descriptor: Int32

    /// Makes an empty instance.
    public init() {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(descriptor >= 0, "the process has descriptors for its loops at start")
    }

    deinit { close(descriptor) }

    /// Watches `fd` for `events`, which are reported with `tag`. Returns 0 or the errno.
    @discardableResult
    public func add(_ fd: Int32, _ events: Events, tag: UInt64) -> Int32 {
        clinux_epoll_set(descriptor, fd, events.rawValue, tag, 0) == 0 ? 0 : errno
    }

    /// Changes what `fd` is watched for. Returns 0 or the errno.
    @discardableResult
    public func modify(_ fd: Int32, _ events: Events, tag: UInt64) -> Int32 {
        clinux_epoll_set(descriptor, fd, events.rawValue, tag, 1) == 0 ? 0 : errno
    }

    /// Stops watching `fd`.
    public func remove(_ fd: Int32) {
        epoll_ctl(descriptor, EPOLL_CTL_DEL, fd, nil)
    }

    /// The most events that one wait reports. So many fit on the stack.
    private static let capacity = 64

    /// Waits at most `milliseconds` (−1: without end), then fills `events`; those beyond its capacity are reported by
    /// the next call.
    public func wait(_ events: inout [Event], milliseconds: Int32) {
        events.removeAll(keepingCapacity: true)
        unsafe withUnsafeTemporaryAllocation(of: clinux_event.self, capacity: Self.capacity) { ready in
            let count = unsafe clinux_epoll_wait(descriptor, ready.baseAddress, Int32(Self.capacity), milliseconds)
            for index in 0..<max(0, Int(count)) {
                let event = unsafe ready[index]
                events.append(Event(tag: event.tag, events: Events(rawValue: event.events)))
            }
        }
    }
}

/// A counter in the kernel that wakes a poller; any thread may signal it.
public final class EventFD: Sendable {
    /// The descriptor to poll for reading.
    public let descriptor: Int32

    /// Makes a counter, at zero.
    public init() {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(descriptor >= 0, "the process has descriptors for its loops at start")
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable.
    public func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Makes the descriptor unreadable again.
    public func drain() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, 8)
    }
}

/// A kernel timer that makes a descriptor readable at an absolute instant.
public final class TimerFD: Sendable {
    /// The clock an instant is on.
    public enum Clock: Sendable {
        /// `CLOCK_BOOTTIME`: elapsed, sleep included.
        case boottime
        /// `CLOCK_REALTIME`: the calendar clock; a step of it also makes the descriptor readable.
        case realtime
    }

    /// The descriptor to poll for reading.
    public let descriptor: Int32
    private let clock: Clock

    /// Makes a disarmed timer.
    public init(_ clock: Clock) {
        self.clock = clock
        let identity = clock == .boottime ? CLOCK_BOOTTIME : CLOCK_REALTIME
        descriptor = timerfd_create(identity, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        precondition(descriptor >= 0, "the process has descriptors for its alarm at start")
    }

    deinit { close(descriptor) }

    /// Arms the timer for the instant `nanoseconds` of its clock; 0 disarms it.
    ///
    /// - Returns: whether the calendar clock was stepped since the timer was last armed; `drain` no longer reports that
    ///   step.
    @discardableResult
    public func set(_ nanoseconds: Int64) -> Bool {
        let result = clinux_timerfd_set(descriptor, nanoseconds, clock == .realtime ? 1 : 0)
        // The kernel reports a step by this error, and has armed the timer nevertheless.
        let isStepped = result != 0 && errno == ECANCELED
        precondition(result == 0 || isStepped, "an instant within the kernel's range arms a timer")
        return isStepped
    }

    /// Makes the descriptor unreadable again. Returns true when the calendar clock was stepped since the timer was
    /// armed.
    public func drain() -> Bool {
        var count: UInt64 = 0
        return unsafe read(descriptor, &count, 8) < 0 && errno == ECANCELED
    }
}
