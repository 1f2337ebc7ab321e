import Glibc
import Platform
import TestSupport
import Testing

struct FileIdentityTests {
    @Test func `a file keeps its identity under another name, and another file has another`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let (one, two, moved) = (directory.file("one"), directory.file("two"), directory.file("moved"))
        #expect(FileBytes.replace(one, with: [1]) && FileBytes.replace(two, with: [1]))
        let identity = try #require(FileIdentity(one))
        #expect(FileIdentity(two) != identity)
        #expect(unsafe rename(one, moved) == 0)
        #expect(FileIdentity(one) == nil)
        #expect(FileIdentity(moved) == identity)
        let descriptor = unsafe open(moved, O_RDONLY)
        defer { close(descriptor) }
        #expect(FileIdentity(descriptor: descriptor) == identity)
        #expect(FileIdentity(descriptor: -1) == nil)
    }

    @Test func `a link has an identity of its own beside that of its file`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let (file, link) = (directory.file("file"), directory.file("link"))
        #expect(FileBytes.replace(file, with: [1]))
        #expect(unsafe symlink(file, link) == 0)
        #expect(FileIdentity(link) == FileIdentity(file))
        let own = FileIdentity(link, followsLink: false)
        #expect(own != nil && own != FileIdentity(file))
    }
}
