internal import CSQLite
internal import Glibc

/// The index of the WAL, `timers.db-shm`, which all connections to the database share.
enum WALIndex {
    /// Makes the next checkpoint copy the whole WAL. The index says how many of its frames a checkpoint has copied, and says
    /// so before they are synced: after a sync that failed, or a crash, the disk may lack them. The index outlives its
    /// writer where another program has the database open.
    ///
    /// To be called while this process has no connection to the database: to close a file drops the process's locks of it.
    ///
    /// - Parameter waitingMilliseconds: how long a checkpoint of another program is waited for.
    static func forgetCopies(of database: String, waitingMilliseconds: Int32) throws(StoreError) {
        let index = database + "-shm"
        var waited: Int32 = 0
        while true {
            let code = unsafe csqlite_forget_copies(index)
            if code == 0 { return }
            guard code == EAGAIN, waited < waitingMilliseconds else {
                throw StoreError(.io, "can't write \(index), errno \(code)")
            }
            waited += 10
            usleep(10_000)
        }
    }
}
