/// What the flags, the environment and the configuration file of one run say.
struct SettingReader {
    private let flags: [String: [String]]
    let environment: Environment
    private var file: ConfigFile?

    /// - Parameter flags: the values that each flag was given, by its name.
    /// - Throws: `unusable` where there is a file that can't be used.
    init(flags: [String: [String]], _ environment: Environment) throws(Failure) {
        self.flags = flags
        self.environment = environment
        file = try readFile()
    }

    /// The same flags and environment with the file as it is now.
    func readAnew() throws(Failure) -> SettingReader {
        var reader = self
        reader.file = try readFile()
        return reader
    }

    /// The settings of `newer` as far as they can change under a running server, the others as here.
    func reloaded(from newer: SettingReader) -> SettingReader {
        var reader = self
        reader.file = ConfigFile(newer.file, pinnedTo: file)
        return reader
    }

    /// The settings that differ in `other`.
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

    /// The values of a setting; see `SettingValue.all`.
    func all(_ setting: Setting) throws(Failure) -> [SettingValue] {
        try SettingValue.all(setting, flags: flags[setting.flag] ?? [], environment, file)
    }

    /// The value of a setting that has a default.
    func one(_ setting: Setting) throws(Failure) -> SettingValue {
        guard let value = try all(setting).first else { throw Failure(.usage, "--\(setting.flag) needs a value") }
        return value
    }
}
