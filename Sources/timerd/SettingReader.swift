/// What the flags and the environment of one run say.
struct SettingReader {
    /// The values that each flag was given, by its name.
    let flags: [String: [String]]
    let environment: Environment

    init(flags: [String: [String]], _ environment: Environment) {
        self.flags = flags
        self.environment = environment
    }

    /// The values of a setting; see `SettingValue.all`.
    func all(_ setting: Setting) throws(Failure) -> [SettingValue] {
        try SettingValue.all(setting, flags: flags[setting.flag] ?? [], environment)
    }

    /// The value of a setting that has a default.
    func one(_ setting: Setting) throws(Failure) -> SettingValue {
        guard let value = try all(setting).first else { throw Failure(.usage, "--\(setting.flag) needs a value") }
        return value
    }
}
