package import Foundation

/// A directory that is removed with the object.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        path = NSTemporaryDirectory() + "timerd-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path inside.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Makes a file inside.
    package func write(_ name: String, _ contents: Data = Data()) throws {
        try contents.write(to: URL(fileURLWithPath: file(name)))
    }

    /// The files a crash at this moment would leave: copies of the database and its WAL, in a directory of their own.
    package func crashImage() throws -> TemporaryDirectory {
        let image = try TemporaryDirectory()
        for name in ["timers.db", "timers.db-wal"] where FileManager.default.fileExists(atPath: file(name)) {
            try FileManager.default.copyItem(atPath: file(name), toPath: image.file(name))
        }
        return image
    }
}
