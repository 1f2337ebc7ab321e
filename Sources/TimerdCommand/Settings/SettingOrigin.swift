/// Where a setting's value comes from.
enum SettingOrigin: Equatable, CustomStringConvertible {
    /// The command line: `--heartbeat`.
    case flag(Setting)
    /// The environment: `TIMERD_HEARTBEAT`.
    case variable(Setting)
    /// A configuration file: `timerd.toml:3: heartbeat`.
    case file(Setting, path: String, line: Int)
    /// Nowhere else.
    case initial(Setting)

    /// As a refusal begins.
    var description: String {
        switch self {
        case .flag(let setting), .initial(let setting): "--\(setting.flag)"
        case .variable(let setting): setting.variable
        case .file(let setting, let path, let line): "\(path):\(line): \(setting.flag)"
        }
    }

    /// The place alone.
    var place: String {
        switch self {
        case .flag, .variable: description
        case .file(_, let path, let line): "\(path):\(line)"
        case .initial: "default"
        }
    }

    /// Whether nobody said anything else.
    var isDefault: Bool {
        if case .initial = self { true } else { false }
    }

    /// How the program exits where the value makes no sense.
    var code: Failure.Code {
        if case .file = self { .unusable } else { .usage }
    }

    static func == (left: SettingOrigin, right: SettingOrigin) -> Bool { left.description == right.description }
}
