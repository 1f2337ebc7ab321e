import Foundation
import Glibc
import Platform
import TestSupport
import Testing
import TimerAPI

@testable import TimerdCommand

/// The audit log's thread with real files, FIFOs and devices.
struct AuditLogTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let reports = Guarded<[String]>([])

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("audit.log")
    }

    private func log(_ path: String, mostBytes: Int = 1 << 20) throws -> AuditLog {
        let reports = reports
        return try AuditLog(path, mostBytes: mostBytes) { reason in reports.withLock { $0.append(reason) } }
    }

    private func note(_ ids: String..., to log: AuditLog) {
        for id in ids { log.trail.note(.sample(id, isRefusal: id.hasPrefix("r"))) }
    }

    private func text(_ path: String) -> [UInt8] { FileBytes.read(path, limit: 1 << 20) ?? [] }

    private func ids(_ path: String) -> [String] { [UInt8].requestIDs(in: text(path)) }

    @Test func `lines are added to what the file has`() throws {
        for id in ["c0", "c1"] {
            let log = try log(path)
            log.start()
            note(id, to: log)
            #expect(log.stop() == 0)
        }
        #expect(ids(path) == ["c0", "c1"])
        #expect(reports.value == [])
    }

    @Test func `nothing is written before the start, and all that waited after it`() throws {
        let log = try log(path)
        note("c0", "r0", "c1", to: log)
        #expect(text(path) == [])
        log.start()
        try eventually("the lines") { ids(path) == ["c0", "r0", "c1"] }
        #expect(log.stop() == 0)
    }

    @Test func `many lines and long ones keep their order`() throws {
        let log = try log(path)
        log.start()
        let all = (0..<300).map { "c\($0)-\(String(repeating: "x", count: $0 % 7 == 0 ? 5000 : 3))" }
        for id in all { note(id, to: log) }
        #expect(log.stop(nanoseconds: Patience.nanoseconds) == 0)
        #expect(ids(path) == all)
    }

    @Test func `the line after dropped ones says how many`() throws {
        let log = try log(path, mostBytes: 2 * AuditRecord.sample("c0").cost)
        note("c0", "r0", "r1", "c1", "c2", to: log)
        log.start()
        #expect(log.stop() == 0)
        let lines = String(decoding: text(path), as: UTF8.self).split(separator: "\n")
        #expect(ids(path) == ["c0", "c1"])
        #expect(lines.map { $0.hasSuffix(",\"dropped\":3}") } == [true, false])
        #expect(log.trail.dropped() == 3)
    }

    @Test func `a file that was moved away is left by a reopen`() throws {
        let log = try log(path)
        log.start()
        note("c0", to: log)
        try eventually("the first line") { ids(path) == ["c0"] }
        let moved = directory.file("audit.log.1")
        try FileManager.default.moveItem(atPath: path, toPath: moved)
        note("c1", to: log)
        try eventually("the second line") { ids(moved) == ["c0", "c1"] }
        log.reopen()
        note("c2", to: log)
        #expect(log.stop() == 0)
        #expect(ids(moved) == ["c0", "c1"] && ids(path) == ["c2"])
    }

    @Test func `a reopen that fails keeps the file`() throws {
        let log = try log(path)
        log.start()
        let moved = directory.file("audit.log.1")
        try FileManager.default.moveItem(atPath: path, toPath: moved)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        log.reopen()
        note("c0", to: log)
        #expect(log.stop() == 0)
        #expect(ids(moved) == ["c0"])
        #expect(reports.value == ["Is a directory"])
    }

    @Test func `a FIFO without a reader holds nothing up, and gets its lines once it has one`() throws {
        let made = unsafe mkfifo(path, 0o600)
        try #require(made == 0)
        let log = try log(path)
        log.start()
        note("c0", "c1", to: log)
        try eventually("the report") { reports.value.contains("nobody reads this FIFO") }
        log.reopen()
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        var lines: [UInt8] = []
        try eventually("the lines") {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(reader, &buffer, buffer.count)
            if count > 0 { lines += buffer[..<count] }
            return [UInt8].requestIDs(in: lines) == ["c0", "c1"]
        }
        #expect(log.stop() == 0)
    }

    @Test func `a FIFO whose reader reads nothing holds no stop up`() throws {
        let made = unsafe mkfifo(path, 0o600)
        try #require(made == 0)
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let log = try log(path)
        log.start()
        for number in 0..<1000 { note("c\(number)", to: log) }
        let unwritten = log.stop(nanoseconds: 100_000_000)
        #expect(unwritten > 0 && unwritten < 1000)
    }

    @Test func `a full disk is reported, and its lines are given up at the stop`() throws {
        let log = try log("/dev/full")
        log.start()
        note("c0", "r0", to: log)
        try eventually("the report") { reports.value.contains("No space left on device") }
        #expect(log.stop() == 2)
    }

    @Test func `lines that a full disk did not take are in the next file`() throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        let log = try log(path)
        log.start()
        note("c0", to: log)
        try eventually("the report") { reports.value.contains("No space left on device") }
        try FileManager.default.removeItem(atPath: path)
        log.reopen()
        note("c1", to: log)
        #expect(log.stop() == 0)
        #expect(ids(path) == ["c0", "c1"])
    }

    @Test func `a path that can't be opened is refused`() {
        for path in ["/nowhere/audit.log", "/", directory.path] {
            #expect(throws: AppendedFile.Fault.self) { try self.log(path) }
        }
    }
}
