import CLinux
import Glibc

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
