internal import Glibc

/// The index of the WAL, `timers.db-shm`, which all connections to the database share. Its format is in SQLite's documentation
/// ("WAL-mode File Format", the WAL-index file format).
enum WALIndex {
    /// The place of the number of frames that are copied into the database.
    private static let copiedOffset: off_t = 96
    /// The byte that whoever runs a checkpoint has locked.
    private static let checkpointLock: off_t = 121

    /// Makes the next checkpoint copy the whole WAL. The index says how many of its frames a checkpoint has copied, and says
    /// so before they are synced: after a sync that failed, or a crash, the disk may lack them. The index outlives its
    /// writer where another program has the database open.
    ///
    /// To be called while this process has no connection to the database: to close a file drops the process's locks of it.
    /// An index that is missing, or can't be opened, is left to SQLite.
    ///
    /// - Parameter waitingMilliseconds: how long a checkpoint of another program is waited for.
    static func forgetCopies(of database: String, waitingMilliseconds: Int32) throws(StoreError) {
        let path = database + "-shm"
        let index = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard index >= 0 else { return }
        defer { Glibc.close(index) }
        var lock = flock()
        (lock.l_type, lock.l_whence, lock.l_start, lock.l_len) = (Int16(F_WRLCK), Int16(SEEK_SET), checkpointLock, 1)
        var waited: Int32 = 0
        while unsafe fcntl(index, F_SETLK, &lock) != 0 {
            let isBusy = errno == EAGAIN || errno == EACCES
            guard isBusy, waited < waitingMilliseconds else { throw failure("lock", path) }
            waited += 10
            usleep(10_000)
        }
        var none: UInt32 = 0
        let size = MemoryLayout.size(ofValue: none)
        // An index that is shorter was never used.
        guard lseek(index, 0, SEEK_END) >= copiedOffset + size else { return }
        guard unsafe pwrite(index, &none, size, copiedOffset) == size else { throw failure("write", path) }
    }

    private static func failure(_ activity: String, _ path: String) -> StoreError {
        StoreError(.io, "can't \(activity) \(path), errno \(errno)")
    }
}
