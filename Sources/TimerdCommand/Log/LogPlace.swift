import PostgresLog
import TimerLog

/// Where a log is read: in a data directory or a database.
enum LogPlace: CustomStringConvertible {
    case directory(String)
    case database(PostgresAddress)

    var description: String {
        switch self {
        case .directory(let path): path
        case .database(let address): "\(address)"
        }
    }

    /// Whether a server may replace and delete rows of it while it is read.
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

    /// The directory of a command that is for a data directory alone.
    ///
    /// - Throws: `unusable`, saying what to use, for a database.
    func directory(orUse advice: String) throws(Failure) -> String {
        switch self {
        case .directory(let path): return path
        case .database: throw Failure(.unusable, "\(self): \(advice)")
        }
    }
}
