import PostgresLog
import WireJSON

/// The flags, the environment and the configuration file of one run, from which settings are read.
struct SettingReader {
    private let flags: [String: [String]]
    let environment: Environment
    private var file: ConfigFile?

    /// - Parameter flags: the values that each flag was given, by its name.
    /// - Throws: `unusable` where the configuration file can't be used.
    init(flags: [String: [String]], _ environment: Environment) throws(Failure) {
        self.flags = flags
        self.environment = environment
        file = try readFile()
    }

    /// Returns the same flags and environment with the file read again.
    func readAnew() throws(Failure) -> SettingReader {
        var reader = self
        reader.file = try readFile()
        return reader
    }

    /// Returns these settings with those of `newer` that can change under a running server.
    func reloaded(from newer: SettingReader) -> SettingReader {
        var reader = self
        reader.file = ConfigFile(newer.file, pinnedTo: file)
        return reader
    }

    /// Returns the settings that differ in `other`.
    func differing(from other: SettingReader) throws(Failure) -> [Setting] {
        var different: [Setting] = []
        for setting in Setting.serve where try all(setting).map(\.text) != other.all(setting).map(\.text) {
            different.append(setting)
        }
        return different
    }

    private func readFile() throws(Failure) -> ConfigFile? {
        guard let path = try all(.config).first?.nonEmpty() else { return nil }
        return try ConfigFile(reading: path)
    }

    /// Returns the values of a setting; see `SettingValue.all`.
    func all(_ setting: Setting) throws(Failure) -> [SettingValue] {
        try SettingValue.all(setting, flags: flags[setting.flag] ?? [], environment, file)
    }

    /// Returns the value of a setting that has a default.
    func one(_ setting: Setting) throws(Failure) -> SettingValue {
        guard let value = try all(setting).first else { throw Failure(.usage, "--\(setting.flag) needs a value") }
        return value
    }
}

/// The effective configuration as TOML; a comment after each setting names its origin.
enum ConfigurationReport {
    /// Returns a line for each setting.
    static func lines(_ settings: SettingReader) throws(Failure) -> [String] {
        var lines: [String] = []
        for setting in Setting.serve {
            let values = try settings.all(setting)
            guard let first = values.first else {
                lines.append("# \(setting.flag): \(setting.derived.map { "by default \($0)" } ?? "none")")
                continue
            }
            let shown = values.map { text(of: $0, setting) }.joined(separator: ", ")
            lines.append("\(setting.flag) = \(setting.repeats ? "[\(shown)]" : shown)  # \(first.origin.place)")
        }
        return lines
    }

    private static func text(of value: SettingValue, _ setting: Setting) -> String {
        if setting.form == .number || setting.form == .yesNo { return value.text }
        var text = value.text
        if PostgresAddress.isURI(text) {
            if PostgresAddress.mayNamePassword(text) { text = "postgres://***" }
        } else if setting.hidesPassword, let at = text.lastIndex(of: "@"), let scheme = text.firstRange(of: "://") {
            text.replaceSubrange(scheme.upperBound..<at, with: "***")
        }
        // A JSON string is also a basic string of TOML.
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
