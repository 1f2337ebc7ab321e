import Glibc

/// Readings of the kernel's clocks, in nanoseconds.
public enum Clocks {
    /// Nanoseconds since 1970 by the calendar clock; steps when the clock is set.
    public static func realtime() -> Int64 { read(CLOCK_REALTIME) }
    /// Nanoseconds since boot, sleep included; never steps.
    public static func boottime() -> Int64 { read(CLOCK_BOOTTIME) }
    /// Nanoseconds since boot without sleep; never steps. For measuring how long something took.
    public static func monotonic() -> Int64 { read(CLOCK_MONOTONIC) }

    /// Nanoseconds of processor time that the calling thread has used.
    public static func threadProcessorTime() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

    /// The identity of the running kernel's boot: two readings of `boottime()` compare only under one identity.
    public static func bootIdentity() -> String {
        FileBytes.read("/proc/sys/kernel/random/boot_id", limit: 64).map { String(decoding: $0, as: UTF8.self) }?
            .split(separator: "\n").first.map(String.init) ?? "unknown"
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
