import Platform
import TOML

/// A file of settings: TOML whose keys are the flags of `timerd serve` without their dashes.
struct ConfigFile {
    /// The most bytes of a file.
    private static let limit = 1 << 20

    private let values: [String: [SettingValue]]

    /// The values that the file gives a setting, none where it has an empty list; nil where it does not name the
    /// setting.
    subscript(setting: Setting) -> [SettingValue]? { values[setting.flag] }

    /// Reads a file in which every key is known and every value has the right type.
    ///
    /// - Throws: `unusable`, which names the line.
    init(reading path: String) throws(Failure) {
        guard let bytes = FileBytes.read(path, limit: Self.limit + 1) else {
            throw Failure(.unusable, "the configuration file \(path) can't be read or is no regular file")
        }
        guard bytes.count <= Self.limit else {
            throw Failure(.unusable, "the configuration file \(path) is over 1 MiB")
        }
        let entries: [TOMLEntry]
        do throws(TOMLError) {
            entries = try TOMLDocument.parse(bytes)
        } catch {
            throw Failure(.unusable, "\(path):\(error.line): \(error.message)")
        }
        var values: [String: [SettingValue]] = [:]
        for entry in entries {
            guard let setting = Setting.serve.first(where: { $0.flag == entry.key }) else {
                throw Failure(.unusable, "\(path):\(entry.line): there is no setting \(entry.key)")
            }
            values[entry.key] = try Self.values(of: entry, setting, path)
        }
        self.values = values
    }

    /// Takes the settings that a reload can change from `file`, and those that need a restart from `old`.
    init(_ file: ConfigFile?, pinnedTo old: ConfigFile?) {
        var values = old?.values ?? [:]
        for setting in Setting.serve where setting.reloads { values[setting.flag] = file?[setting] }
        self.values = values
    }

    private static func values(
        of entry: TOMLEntry, _ setting: Setting, _ path: String
    ) throws(Failure) -> [SettingValue] {
        func value(_ text: String, line: Int) -> SettingValue {
            SettingValue(origin: .file(setting, path: path, line: line), text: text)
        }
        switch (entry.value, setting.form) {
        case (.integer(let number), .number):
            return [value("\(number)", line: entry.line)]
        case (.boolean(let isSet), .yesNo):
            return [value("\(isSet)", line: entry.line)]
        case (.string(let text), .text), (.string(let text), .parts), (.string(let text), .list):
            return [value(text, line: entry.line)]
        case (.array(let elements), .list), (.array(let elements), .parts):
            var parts: [SettingValue] = []
            for element in elements {
                guard case .string(let text) = element.value else {
                    throw value("", line: element.line).hiddenRefusal("expected a list of strings")
                }
                parts.append(value(text, line: element.line))
            }
            if setting.form == .list { return parts }
            return [value(parts.map(\.text).joined(separator: ","), line: entry.line)]
        case (_, .number):
            throw value("", line: entry.line).hiddenRefusal("expected a whole number")
        case (_, .yesNo):
            throw value("", line: entry.line).hiddenRefusal("expected true or false")
        case (_, .text):
            throw value("", line: entry.line).hiddenRefusal("expected a string")
        case (_, .list), (_, .parts):
            throw value("", line: entry.line).hiddenRefusal("expected a string or a list of strings")
        }
    }
}
