import ArgumentParser

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
