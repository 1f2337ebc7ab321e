import Glibc
import Platform
import TestSupport
import Testing

@testable import TimerdCommand

struct ExportFileTests {
    @Test func `the file gets its name once it is whole`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("timers")
        let file = try ExportFile(path)
        try file.write([1, 2])
        #expect(FileBytes.read(path, limit: 10) == nil)
        try file.finish()
        #expect(FileBytes.read(path, limit: 10) == [1, 2])
        #expect(FileBytes.read(path + ".partial", limit: 10) == nil)
    }

    @Test func `of two exports to one file the later one writes it`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("timers")
        let earlier = try ExportFile(path)
        try earlier.write([1, 2])
        let later = try ExportFile(path)
        try later.write([3])
        let failure = #expect(throws: Failure.self) { try earlier.finish() }
        #expect(failure?.line.contains("another export's") == true)
        earlier.discard()
        #expect(FileBytes.read(path, limit: 10) == nil)
        try later.write([4])
        try later.finish()
        #expect(FileBytes.read(path, limit: 10) == [3, 4])
    }
}
