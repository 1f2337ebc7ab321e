import PostgresLog
import TimerLog

/// Where logs are read: the one of a data directory, or one for each partition of a database.
enum LogPlace: CustomStringConvertible {
    case directory(String)
    case database(PostgresAddress)

    /// One log that can be read.
    struct Readable {
        /// Its number, of several.
        var partition: Int?
        let reader: any LogReader
    }

    var description: String {
        switch self {
        case .directory(let path): path
        case .database(let address): "\(address)"
        }
    }

    /// Whether a server may replace and delete rows of it while it is read.
    var isShared: Bool { if case .database = self { true } else { false } }

    /// Every log, in the order of partitions.
    func logs() throws(Failure) -> [Readable] {
        do throws(StoreError) {
            switch self {
            case .directory(let path): return [Readable(reader: try SQLiteLogStore.openReader(directory: path))]
            case .database(let address):
                let volume = try PostgresLogVolume(address, session: ClusterMember.newSession()) {
                    Console.error("timerd: \($0)")
                }
                return (0..<volume.layout.count).map { Readable(partition: $0, reader: volume.makeReader($0)) }
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
