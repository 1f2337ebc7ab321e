import Platform
import TestSupport
import Testing

struct FileBytesTests {
    @Test func `the name of a file is synced in its directory`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        for path in [directory.file("file"), "file", "/file"] { #expect(FileBytes.syncName(of: path)) }
        #expect(!FileBytes.syncName(of: directory.file("none/file")))
    }
}
