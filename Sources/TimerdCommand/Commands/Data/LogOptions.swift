import ArgumentParser
import PostgresLog
import TimerLog

/// The log that a command works on: a data directory's or a database's.
struct LogOptions: ParsableArguments {
    @OptionGroup var data: DataOptions
    @OptionGroup var database: DatabaseOptions

    /// Returns the directory or database that holds the log.
    ///
    /// - Throws: `usage` for a store in memory, `unusable` where both a directory and a database are named.
    func place() throws(Failure) -> LogPlace {
        let settings = try database.settings([Setting.data.flag: data.data])
        switch try StoreKind(settings) {
        case .sqlite: return .directory(try data.directory())
        case .memory: throw Failure(.usage, "--\(Setting.store.flag) memory: it keeps no log that could be read")
        case .postgres(let address):
            guard data.data == nil else {
                let origin = try settings.one(.store).origin
                throw Failure(
                    .unusable,
                    "--\(Setting.data.flag): \(origin) names a database, which has no directory: leave one out")
            }
            return .database(address)
        }
    }
}

/// The data directory of a command that works on one.
struct DataOptions: ParsableArguments {
    @Option(name: Setting.data.name, help: Setting.data.help, completion: .directory) var data: String?

    /// Returns the directory that the command works on.
    func directory() throws(Failure) -> String {
        guard let value = try SettingValue.one(.data, flag: data, Environment.current) else {
            throw Failure(.usage, "--\(Setting.data.flag) needs a value")
        }
        return try value.nonEmpty()
    }
}

/// The database of a command that works on one.
struct DatabaseOptions: ParsableArguments {
    @Option(name: Setting.store.name, help: Setting.store.help) var store: String?
    @Option(name: Setting.storePasswordFile.name, help: Setting.storePasswordFile.help) var storePasswordFile: String?

    /// Returns the settings of these flags, of the flags in `more` and of the environment.
    func settings(_ more: [String: String?] = [:]) throws(Failure) -> SettingReader {
        let flags = more.merging(
            [Setting.store.flag: store, Setting.storePasswordFile.flag: storePasswordFile], uniquingKeysWith: { $1 })
        return try SettingReader(flags: flags.compactMapValues { $0.map { [$0] } }, Environment.current)
    }

    /// Returns the database that the command works on.
    func address(_ settings: SettingReader) throws(Failure) -> PostgresAddress {
        guard case .postgres(let address) = try StoreKind(settings) else {
            throw Failure(.usage, "--\(Setting.store.flag): expected the URI of a PostgreSQL database, postgres://…")
        }
        return address
    }
}

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
