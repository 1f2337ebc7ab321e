import PostgresLog
import WireJSON

/// The effective configuration as TOML; a comment after each setting names its origin.
enum ConfigurationReport {
    /// Returns a line for each setting.
    static func lines(_ settings: SettingReader) throws(Failure) -> [String] {
        var lines: [String] = []
        for setting in Setting.serve {
            let values = try settings.all(setting)
            guard let first = values.first else {
                lines.append("# \(setting.flag): none")
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
