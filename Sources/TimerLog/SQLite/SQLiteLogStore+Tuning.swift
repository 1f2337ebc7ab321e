extension SQLiteLogStore {
    /// The bounds of a store, which tests make smaller or worse.
    struct Tuning: Sendable {
        /// The bytes that the WAL grows between two passive checkpoints.
        var passiveBytes = 4 << 20
        /// The bytes of WAL at which an append first copies all of it, so that the WAL starts over.
        var restartBytes = 64 << 20
        /// How long a call waits for a lock held elsewhere (by an operator's shell).
        var busyMilliseconds: Int32 = 5000
        /// The most pages of the database file; nil for SQLite's own bound.
        var pageLimit: Int?
        /// The VFS by which SQLite reaches the file system; nil for the default.
        var vfs: String?
    }
}
