import Foundation
import Platform
import TestSupport
import Testing

struct ProcessorsTests {
    private let root: TemporaryDirectory

    init() throws { root = try TemporaryDirectory() }

    private func write(_ path: String, _ text: String) throws {
        let folder = root.file(path).split(separator: "/").dropLast().joined(separator: "/")
        try FileManager.default.createDirectory(atPath: "/" + folder, withIntermediateDirectories: true)
        try root.write(path, Data(text.utf8))
    }

    @Test func `without control groups every processor of the mask is usable`() throws {
        let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8).split(separator: "\n")
        let mask = try #require(status.first { $0.hasPrefix("Cpus_allowed:") }).dropFirst("Cpus_allowed:".count)
        let bits = mask.compactMap { $0.hexDigitValue?.nonzeroBitCount }.reduce(0, +)
        #expect(Processors.usable(root: root.path) == bits)
    }

    @Test(
        arguments: [
            ("100000 100000\n", 1), ("50000 100000\n", 1), ("1 100000\n", 1), ("100001 100000\n", 2),
            ("9223372036854775807 1\n", nil), ("max 100000\n", nil), ("0 100000\n", nil), ("100000 0\n", nil),
            ("-1 100000\n", nil), ("100000\n", nil), ("", nil),
        ] as [(String, Int?)])
    func `a quota is a bound, rounded up`(text: String, bound: Int?) throws {
        let all = Processors.usable(root: root.path)
        try write("proc/self/cgroup", "0::/\n")
        try write("sys/fs/cgroup/cpu.max", text)
        #expect(Processors.usable(root: root.path) == min(all, bound ?? all))
    }

    @Test(
        arguments: [
            "sys/fs/cgroup/system.slice/timerd.service/cpu.max", "sys/fs/cgroup/system.slice/cpu.max",
            "sys/fs/cgroup/cpu.max",
        ])
    func `the quota of a group above counts too`(path: String) throws {
        try write("proc/self/cgroup", "1:name=systemd:/other\n0::/system.slice/timerd.service\n")
        try write("sys/fs/cgroup/system.slice/timerd.service/cpu.max", "max 100000\n")
        try write(path, "70000 100000\n")
        #expect(Processors.usable(root: root.path) == 1)
    }
}
