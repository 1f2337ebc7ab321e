internal import CLinux
import Glibc

/// The process's use of the machine, read from `/proc`.
public enum ProcessUsage {
    /// Bytes of memory resident now; 0 when `/proc` can't be read.
    public static func residentBytes() -> Int {
        let fields = FileBytes.read("/proc/self/statm", limit: 256)?.split(separator: UInt8(ascii: " ")) ?? []
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * Int(getpagesize())
    }

    /// Returns free memory from the allocator to the system. Takes milliseconds for each 100 MB, during which
    /// other threads that allocate wait.
    public static func trimMemory() { clinux_trim_memory() }

    /// Seconds of processor time used, user and system.
    public static func cpuSeconds() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The instant at which the process started, in seconds since 1970 by the calendar as it is now; 0 when
    /// `/proc` can't be read.
    public static func startSeconds() -> Double {
        // The second field is the program's name in brackets, which may hold anything.
        guard let text = FileBytes.read("/proc/self/stat", limit: 4096),
            let bracket = text.lastIndex(of: UInt8(ascii: ")"))
        else { return 0 }
        let fields = text[(bracket + 1)...].split(separator: UInt8(ascii: " "))
        let ticksASecond = sysconf(Int32(_SC_CLK_TCK))
        guard fields.count > startField, ticksASecond > 0,
            let ticks = Int64(String(decoding: fields[startField], as: UTF8.self))
        else { return 0 }
        let boot = Double(Clocks.realtime() - Clocks.boottime()) / 1e9
        // The instant is rounded to a tick: the boot's instant that both clocks give differs in each reading.
        return ((boot + Double(ticks) / Double(ticksASecond)) * 100).rounded() / 100
    }

    /// The index of `starttime` among the fields after the program's name in `/proc/self/stat`.
    private static let startField = 19

    /// The number of open descriptors; 0 when `/proc` can't be read.
    public static func openDescriptors() -> Int {
        guard let directory = unsafe opendir("/proc/self/fd") else { return 0 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        // `.`, `..` and the descriptor of this very reading do not count.
        return max(0, count - 3)
    }

    /// The number of descriptors that the process may open, the soft limit; nil where there is no limit.
    public static func maxDescriptors() -> Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }
}
