import PostgresLog
import TimerLog

/// The data directory or the database that a log is read from.
enum LogPlace: CustomStringConvertible {
    case directory(String)
    case database(PostgresAddress)

    var description: String {
        switch self {
        case .directory(let path): path
        case .database(let address): "\(address)"
        }
    }

    /// Whether the log is in a database, where a server may replace and delete rows while they are read.
    var isShared: Bool { if case .database = self { true } else { false } }

    /// Makes a reader of the log.
    func reader() throws(Failure) -> any LogReader {
        do throws(StoreError) {
            switch self {
            case .directory(let path): return try SQLiteLogStore.openReader(directory: path)
            case .database(let address):
                let store = try PostgresLogStore(address, session: ClusterMember.newSession()) {
                    Console.error("timerd: \($0)")
                }
                return store.makeFollower()
            }
        } catch {
            throw Failure(error, directory: description)
        }
    }

    /// Returns the directory, for a command that works on a data directory only.
    ///
    /// - Throws: `unusable` for a database, with `advice` on what to use instead.
    func directory(orUse advice: String) throws(Failure) -> String {
        switch self {
        case .directory(let path): return path
        case .database: throw Failure(.unusable, "\(self): \(advice)")
        }
    }
}
