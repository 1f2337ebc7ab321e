internal import Glibc
internal import Platform

/// The right to write in a data directory: an exclusive `flock` on the file `lock` in it, held until deinit.
///
/// The kernel releases the lock when the process ends, however it ends. The file stays: removing it would let two
/// processes hold locks on two files of one name.
public final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock, at once or not at all. Throws `inUse`, naming the holder, or `unusable`.
    public init(directory: String) throws(StoreError) {
        let place = DataDirectory(path: directory)
        let opened = unsafe open(place.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw place.failure(.unusable, "can't open \(place.lock)") }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(opened) }
            guard errno == EWOULDBLOCK else { throw place.failure(.unusable, "can't lock \(place.lock)") }
            let holder = FileBytes.read(place.lock, limit: 32).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let number = holder.prefix { $0 >= "0" && $0 <= "9" }
            throw StoreError(.inUse, "another timerd (pid \(number.isEmpty ? "unknown" : number)) uses \(directory)")
        }
        descriptor = opened
        let line = Array("\(getpid())\n".utf8)
        // The number is for people; the lock holds without it.
        _ = ftruncate(opened, 0)
        _ = unsafe line.withUnsafeBytes { bytes in unsafe pwrite(opened, bytes.baseAddress, bytes.count, 0) }
    }

    /// Whether the lock file in `directory` is still the one that is locked: else another process may lock it too.
    func holds(_ directory: DataDirectory) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return directory.identity(directory.lock) == FileIdentity(status)
    }

    deinit { close(descriptor) }
}
