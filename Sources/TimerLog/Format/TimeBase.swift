public import TimerCore

/// The readings of every clock at one moment; each row carries one, so that elapsed time goes on over a restart.
public struct TimeBase: Sendable, Equatable {
    /// The instant as the scheduler saw it.
    public var now: Now
    /// Nanoseconds since boot, sleep included.
    public var boottime: Int64
    /// The boot to which `boottime` belongs: 16 bytes.
    public var boot: Hash128

    /// Makes a base; see the members.
    public init(now: Now, boottime: Int64, boot: Hash128) {
        self.now = now
        self.boottime = boottime
        self.boot = boot
    }
}
