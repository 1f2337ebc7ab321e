internal import Glibc
internal import Platform

/// The directory of a log, and the names of the files in it.
struct DataDirectory {
    /// The database's file name.
    static let databaseName = "timers.db"

    /// The path of the directory, as it was given.
    let path: String
    /// The path of the database.
    var database: String { path + "/" + DataDirectory.databaseName }
    /// The path of the database's write-ahead log (WAL).
    var wal: String { database + "-wal" }
    /// The path of the file whose `flock` says who uses the directory.
    var lock: String { path + "/lock" }

    /// Makes the directory, for its owner alone, where it is missing (its parent must be there).
    func create() throws(StoreError) {
        if unsafe mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else { throw failure(.unusable, "can't make \(path)") }
            return
        }
        try sync()
        try DataDirectory(path: parent).sync()
    }

    /// Makes an empty database file, for its owner alone, where there is none: SQLite would let others read it.
    func createDatabase() throws(StoreError) {
        let descriptor = unsafe open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 {
            guard errno == EEXIST else { throw failure(.unusable, "can't make \(database)") }
            return
        }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(.io, "can't sync \(database)") }
        try sync()
        try DataDirectory(path: parent).sync()
    }

    /// Whether there is no database, nor perhaps a directory.
    var lacksDatabase: Bool { unsafe access(database, F_OK) != 0 && errno == ENOENT }

    /// Makes the names in the directory durable.
    func sync() throws(StoreError) {
        try syncFile(path, O_RDONLY | O_DIRECTORY)
    }

    /// Makes what was written to the file at `file` durable.
    func syncFile(_ file: String, _ flags: Int32 = O_RDWR) throws(StoreError) {
        let descriptor = unsafe open(file, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(.io, "can't open \(file)") }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(.io, "can't sync \(file)") }
    }

    /// Whether the directory is empty.
    func isEmpty() throws(StoreError) -> Bool {
        guard let stream = unsafe opendir(path) else { throw failure(.unusable, "can't list \(path)") }
        defer { unsafe closedir(stream) }
        // Two entries are always there, `.` and `..`.
        for _ in 0..<3 where unsafe readdir(stream) == nil { return true }
        return false
    }

    /// Returns the bytes of the file at `file`; 0 when there is none.
    func size(_ file: String) -> Int {
        var status = stat()
        return unsafe stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The directory's parent.
    var parent: String {
        var end = path.utf8[...]
        while end.count > 1, end.last == UInt8(ascii: "/") { end.removeLast() }
        guard let slash = end.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == end.startIndex ? "/" : String(decoding: end[..<slash], as: UTF8.self)
    }

    /// Returns the error for a `file` that was deleted, moved or replaced.
    func missingError(_ file: String) -> StoreError {
        StoreError(.unusable, "\(file) was deleted, moved or replaced")
    }

    /// Returns an error of `kind`, or `full` for `ENOSPC`, that ends with the message of `errno`; where rights are
    /// missing, also with the users concerned.
    func failure(_ kind: StoreError.Kind, _ what: String) -> StoreError {
        let code = errno
        let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)"
        let rights = code == EACCES || code == EPERM ? rights() : ""
        return StoreError(code == ENOSPC ? .full : kind, "\(what): \(reason)\(rights)")
    }

    /// Returns a text that names the user of this process and the owner of what it may not use: the lock file, else
    /// the directory, else the directory's parent.
    private func rights() -> String {
        var status = stat()
        let file = [lock, path, parent].first { (file: String) in unsafe lstat(file, &status) == 0 }
        guard let file else { return "; this process runs as uid \(geteuid())" }
        return "; this process runs as uid \(geteuid()), and \(file) belongs to uid \(status.st_uid)"
    }
}

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
        guard let held = FileIdentity(descriptor: descriptor) else { return false }
        return FileIdentity(directory.lock) == held
    }

    deinit { close(descriptor) }
}
