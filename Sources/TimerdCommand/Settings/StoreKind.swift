import PostgresLog
import TimerLog

/// The kind of store that timers are kept in.
enum StoreKind: Sendable {
    case sqlite
    case memory
    case postgres(PostgresAddress)

    /// Reads `--store` and, for a database, `--store-password-file`.
    ///
    /// - Throws: `usage` for a password on the command line, which `ps` would show. No error shows a password.
    init(_ settings: SettingReader) throws(Failure) {
        let value = try settings.one(.store)
        switch value.text {
        case "sqlite": self = .sqlite
        case "memory": self = .memory
        default:
            guard PostgresAddress.isURI(value.text) else {
                throw value.refusal("expected sqlite, memory or the URI of a PostgreSQL database, postgres://…")
            }
            self = .postgres(try Self.address(value, settings))
        }
        if case .postgres = self { return }
        for setting in [Setting.storePasswordFile, .clusterURL, .clusterListen, .clusterTokenFile] {
            guard let other = try settings.all(setting).first else { continue }
            throw other.refusal("it is for --store postgres://… alone")
        }
        let standby = try settings.one(.standby)
        guard standby.origin.isDefault else { throw standby.refusal("it is for --store postgres://… alone") }
        for setting in [Setting.migrate, .acceptLoss] where try settings.one(setting).yesNo() {
            throw try settings.one(setting).refusal("it is for --store postgres://… alone")
        }
    }

    /// Whether the store is the database of a cluster.
    var isShared: Bool { if case .postgres = self { true } else { false } }

    /// Whether the store is a data directory.
    var isDirectory: Bool { if case .sqlite = self { true } else { false } }

    private static func address(_ value: SettingValue, _ settings: SettingReader) throws(Failure) -> PostgresAddress {
        let password = try settings.all(.storePasswordFile).first.map { file throws(Failure) in
            try PasswordFile.read(file.nonEmpty())
        }
        let address: PostgresAddress
        do throws(StoreError) {
            address = try PostgresAddress(value.text, password: password)
        } catch {
            throw value.hiddenRefusal(error.description)
        }
        if address.namesPassword, case .flag = value.origin {
            throw value.hiddenRefusal(
                "a password in it is shown to whoever lists processes; give it by "
                    + "--\(Setting.storePasswordFile.flag), PGPASSFILE, or the whole URI as \(Setting.store.variable)")
        }
        return address
    }
}
