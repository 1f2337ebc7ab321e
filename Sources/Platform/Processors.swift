internal import CLinux
import Glibc

/// The processors that this process may use.
public enum Processors {
    /// Returns the number of processors that this process may use at once, at least 1.
    ///
    /// Counted are those of its affinity mask, which `taskset` and cpusets narrow. The quota of its control group (version
    /// 2) and of each group above is a bound too, rounded up: with `docker run --cpus 1.5` there are 2.
    ///
    /// - Parameter root: a directory that stands in for `/`.
    public static func usable(root: String = "") -> Int { max(1, min(inMask, quota(root))) }

    /// The processors of the affinity mask; those that are online where it can't be read.
    private static var inMask: Int {
        let count = clinux_processors_in_mask()
        return count > 0 ? Int(count) : Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    /// The smallest quota in processors of the control groups of this process; the largest number where none has one.
    private static func quota(_ root: String) -> Int {
        let groups = FileBytes.read(root + "/proc/self/cgroup", limit: 4096)?.split(separator: UInt8(ascii: "\n")) ?? []
        // The line of version 2. Its path may be that of the host, which a container does not see: its own is the root then.
        let line = groups.lazy.map { String(decoding: $0, as: UTF8.self) }.first { $0.hasPrefix("0::/") }
        var names = line?.dropFirst(3).split(separator: "/") ?? []
        var least = Int.max
        while true {
            let group = names.map { "/" + $0 }.joined()
            if let text = FileBytes.read("\(root)/sys/fs/cgroup\(group)/cpu.max", limit: 64) {
                // "max 100000", or microseconds in each period of so many.
                let fields = String(decoding: text, as: UTF8.self).split { $0 == " " || $0 == "\n" }.map {
                    Int($0) ?? 0
                }
                if fields.count == 2, fields[0] > 0, fields[1] > 0 {
                    least = min(least, (fields[0] - 1) / fields[1] + 1)
                }
            }
            if names.popLast() == nil { return least }
        }
    }
}
