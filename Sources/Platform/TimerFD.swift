import CLinux
import Glibc

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
