import Foundation
import TimerLog

/// A directory that goes with the object.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "timerd-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path inside.
    func file(_ name: String) -> String { path + "/" + name }

    /// Makes a file inside.
    func write(_ name: String, _ contents: Data = Data()) throws {
        try contents.write(to: URL(fileURLWithPath: file(name)))
    }

    /// What a crash at this moment would leave: the database and its WAL as they are, in a directory of their own.
    func crashImage() throws -> TemporaryDirectory {
        let image = try TemporaryDirectory()
        for name in ["timers.db", "timers.db-wal"] where FileManager.default.fileExists(atPath: file(name)) {
            try FileManager.default.copyItem(atPath: file(name), toPath: image.file(name))
        }
        return image
    }
}

/// `count` rows of `width` positions each that follow the position `after`; the data of each says where it belongs.
func chain(after: Int64 = 0, count: Int, width: Int64 = 10, bytes: Int = 100) -> [LogRow] {
    (0..<Int64(count)).map { index in
        let previous = after + index * width
        return LogRow(
            first: previous + 1, last: previous + width, previous: previous, data: pattern(previous + 1, bytes))
    }
}

/// Bytes that differ from one position to the next, and within.
func pattern(_ position: Int64, _ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: position &* 7), count: count)
    for index in stride(from: 0, to: count, by: max(1, count / 100)) {
        bytes[index] = UInt8(truncatingIfNeeded: Int(position) &+ index &* 31)
    }
    return bytes
}

/// Every row from `position` on.
func rows(of store: any LogStore, from position: Int64 = 0) throws -> [LogRow] {
    try rows(of: store.makeReader(), from: position)
}

/// Every row from `position` on.
func rows(of reader: any LogReader, from position: Int64 = 0) throws -> [LogRow] {
    var all: [LogRow] = []
    try reader.read(from: position) {
        all.append($0)
        return true
    }
    return all
}
