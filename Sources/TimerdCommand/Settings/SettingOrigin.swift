/// The origin of a setting's value.
enum SettingOrigin: Equatable, CustomStringConvertible {
    /// The command line: `--heartbeat`.
    case flag(Setting)
    /// The environment: `TIMERD_HEARTBEAT`.
    case variable(Setting)
    /// A configuration file: `timerd.toml:3: heartbeat`.
    case file(Setting, path: String, line: Int)
    /// The default, where no other origin has a value.
    case initial(Setting)

    /// The origin as a refusal names it, with the setting.
    var description: String {
        switch self {
        case .flag(let setting), .initial(let setting): "--\(setting.flag)"
        case .variable(let setting): setting.variable
        case .file(let setting, let path, let line): "\(path):\(line): \(setting.flag)"
        }
    }

    /// The origin as `--check` shows it beside the setting.
    var place: String {
        switch self {
        case .flag, .variable: description
        case .file(_, let path, let line): "\(path):\(line)"
        case .initial: "default"
        }
    }

    /// Whether the value is the default.
    var isDefault: Bool {
        if case .initial = self { true } else { false }
    }

    /// The exit code where the value makes no sense.
    var code: Failure.Code {
        if case .file = self { .unusable } else { .usage }
    }

    static func == (left: SettingOrigin, right: SettingOrigin) -> Bool { left.description == right.description }
}
