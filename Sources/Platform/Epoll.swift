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
