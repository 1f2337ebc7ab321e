import Foundation

/// The file of an export, which only its owner can read: it is written under another name until it is whole.
final class ExportFile {
    private let path: String
    private let partial: String
    private let handle: FileHandle
    private var failure: Failure?

    init(_ path: String) throws(Failure) {
        self.path = path
        partial = path + ".partial"
        _ = FileManager.default.createFile(atPath: partial, contents: nil, attributes: [.posixPermissions: 0o600])
        guard let handle = FileHandle(forWritingAtPath: partial) else {
            throw Failure(.usage, "can't write \(partial)")
        }
        self.handle = handle
    }

    /// Writes bytes. Returns whether they were written; where not, `finish` throws the reason.
    func write(_ bytes: [UInt8]) -> Bool {
        do {
            try handle.write(contentsOf: Data(bytes))
            return true
        } catch {
            failure = Failure(.other, "can't write \(partial): \(error.localizedDescription)")
            return false
        }
    }

    /// Syncs the whole file to disk and gives it its name.
    func finish() throws(Failure) {
        if let failure { throw failure }
        do {
            try handle.synchronize()
            try handle.close()
        } catch {
            throw Failure(.other, "can't write \(partial): \(error.localizedDescription)")
        }
        guard unsafe rename(partial, path) == 0 else { throw Failure(.other, "can't rename \(partial) to \(path)") }
    }

    /// Deletes the partial file.
    func discard() {
        try? handle.close()
        try? FileManager.default.removeItem(atPath: partial)
    }
}
