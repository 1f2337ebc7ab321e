import Glibc

/// Small files read or written whole: `/proc` entries, token files, the list of listeners.
public enum FileBytes {
    /// The first `limit` bytes of the file at `path`, or nil when it can't be read or is not a regular file: a read
    /// from a pipe could block.
    public static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress! + count, limit - count)
            }
            if got == 0 { break }
            guard got > 0 else { return nil }
            count += got
        }
        bytes.removeSubrange(count...)
        return bytes
    }

    /// Puts a file with these bytes, for its owner alone, at `path` in one step: a reader sees the old file or the
    /// new one. After a loss of power it may be empty.
    ///
    /// - Returns: false where that failed; then what was at `path` is still there.
    public static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let draft = path + ".new"
        unsafe unlink(draft)
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let written = unsafe bytes.withUnsafeBytes { buffer in
            unsafe write(descriptor, buffer.baseAddress, buffer.count)
        }
        close(descriptor)
        guard written == bytes.count, unsafe rename(draft, path) == 0 else {
            unsafe unlink(draft)
            return false
        }
        return true
    }

    /// Makes the name of the file at `path` durable: syncs its directory.
    ///
    /// - Returns: false where that failed.
    public static func syncName(of path: String) -> Bool {
        let end = path.lastIndex(of: "/")
        let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    /// Removes the file at `path`, if there is one.
    public static func remove(_ path: String) { unsafe unlink(path) }

    /// `path` from the root on, or unchanged where the working directory has no name any more.
    public static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(directory) }
        return unsafe String(cString: directory) + "/" + path
    }
}
