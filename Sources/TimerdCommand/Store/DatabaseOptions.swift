import ArgumentParser
import PostgresLog

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
