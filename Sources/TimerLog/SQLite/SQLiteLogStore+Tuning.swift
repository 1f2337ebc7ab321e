extension SQLiteLogStore {
    /// Bounds that tests make smaller or worse than they are.
    struct Tuning: Sendable {
        /// The WAL grows so many bytes between two passive checkpoints.
        var passiveBytes = 4 << 20
        /// At so many bytes of WAL an append first copies all of it, and the WAL starts over.
        var restartBytes = 64 << 20
        /// How long a lock held elsewhere (an operator's shell) is waited for.
        var busyMilliseconds: Int32 = 5000
        /// Most pages of the database file; nil for no limit of ours.
        var pageLimit: Int?
        /// SQLite's way to the file system; nil for the usual one.
        var vfs: String?
    }
}
