import ArgumentParser

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
