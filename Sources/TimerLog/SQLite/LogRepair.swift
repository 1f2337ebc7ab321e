internal import Platform

/// Removes the damaged end of a log, for an operator who decided to.
public enum LogRepair {
    /// The removed part of a log.
    public struct Cut: Sendable, Equatable {
        /// The number of rows removed.
        public var rows: Int
        /// The bytes of row data removed.
        public var bytes: Int
        /// The first position removed, nil when none was.
        public var first: Int64?
        /// The greatest position removed, nil when none was.
        public var last: Int64?
    }

    /// Deletes, in one transaction, every row of the log in `directory` that holds a position after `position`. A
    /// row that also holds positions up to `position` is deleted whole.
    ///
    /// Takes the `DirectoryLock`: throws `inUse` while a server runs. Throws `unusable` when there is no log, and
    /// `damaged` when the database itself is damaged, not only rows.
    public static func cut(directory: String, after position: Int64) throws(StoreError) -> Cut {
        let path = DataDirectory(path: directory).database
        _ = try RowQueries.openChecked(path)
        let lock = try DirectoryLock(directory: directory)
        defer { withExtendedLifetime(lock) {} }
        try WALIndex.forgetCopies(of: path, waitingMilliseconds: RowQueries.busyMilliseconds)
        return try SQLiteSchema.attempt("cutting the log after position \(position)") { () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readWrite)
            connection.setBusyTimeout(milliseconds: RowQueries.busyMilliseconds)
            connection.keepWALOnClose(true)
            try connection.execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; BEGIN IMMEDIATE")
            // A damaged row may have any `last`, so `first` counts as well.
            let condition = "WHERE last > ?1 OR first > ?1"
            let sum = try connection.prepare(
                """
                SELECT count(*), ifnull(sum(length(data)), 0), min(first), max(max(first, last)) FROM log \(condition)
                """)
            try sum.bind(1, position)
            var cut = Cut(rows: 0, bytes: 0)
            if try sum.step(), sum.integer(0) > 0 {
                cut = Cut(
                    rows: Int(sum.integer(0)), bytes: Int(sum.integer(1)), first: sum.integer(2), last: sum.integer(3))
            }
            sum.reset()
            let delete = try connection.prepare("DELETE FROM log \(condition)")
            try delete.bind(1, position)
            try delete.run()
            // Clients may have been shown the rows that are cut.
            if cut.rows > 0 { try SQLiteSchema.branch(connection, at: Clocks.realtime() / 1_000_000) }
            try connection.execute("COMMIT")
            try connection.checkpoint(.truncate)
            connection.keepWALOnClose(false)
            return cut
        }
    }
}
