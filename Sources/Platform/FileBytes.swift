import Glibc

/// Small files read whole: `/proc` entries, token files.
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
}
