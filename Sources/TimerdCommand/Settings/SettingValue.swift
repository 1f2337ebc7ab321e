import Primitives
import WireJSON

/// The value of a setting and its origin, which a refusal names.
struct SettingValue {
    /// The origin of the value.
    let origin: SettingOrigin
    /// The value as it was written.
    let text: String

    /// Returns the values of `setting`: of its flag, else of its variable, else of the file, else its default.
    ///
    /// White space around a variable's value is no part of it: a secret that an orchestrator passes on often ends
    /// in a newline.
    ///
    /// - Throws: where the variable is set and empty, which is a mistake, or a value has a control character in
    ///   it.
    static func all(
        _ setting: Setting, flags: [String], _ environment: Environment, _ file: ConfigFile? = nil
    ) throws(Failure) -> [SettingValue] {
        let values = try given(setting, flags: flags, environment, file)
        for value in values where VisibleText.hasControls(value.text) {
            throw value.hiddenRefusal("the value has a control character in it, such as a newline")
        }
        return values
    }

    private static func given(
        _ setting: Setting, flags: [String], _ environment: Environment, _ file: ConfigFile?
    ) throws(Failure) -> [SettingValue] {
        if !flags.isEmpty { return flags.map { SettingValue(origin: .flag(setting), text: $0) } }
        if let text = environment[setting.variable].map({ VisibleText.trimmed($0) }) {
            guard !text.isEmpty else { throw Failure(.usage, "\(setting.variable) is set and empty") }
            let parts = setting.repeats ? text.split(separator: ",").map { VisibleText.trimmed(String($0)) } : [text]
            // Commas alone are no value: the text is kept whole, to be refused as a value.
            return (parts.isEmpty ? [text] : parts).map { SettingValue(origin: .variable(setting), text: $0) }
        }
        if let values = file?[setting] { return values }
        return setting.initial.map { [SettingValue(origin: .initial(setting), text: $0)] } ?? []
    }

    /// Returns the one value of `setting`; nil where it has neither a value nor a default.
    static func one(
        _ setting: Setting, flag: String?, _ environment: Environment
    ) throws(Failure) -> SettingValue? {
        try all(setting, flags: flag.map { [$0] } ?? [], environment).first
    }

    /// Makes the failure for a value that makes no sense, and shows the value.
    func refusal(_ reason: String) -> Failure { Failure(origin.code, "\(origin) \(text): \(reason)") }

    /// Makes the failure for a value that makes no sense, without the value, which may be a secret.
    func hiddenRefusal(_ reason: String) -> Failure { Failure(origin.code, "\(origin): \(reason)") }

    /// Returns the value, which must not be empty.
    func nonEmpty() throws(Failure) -> String {
        if text.isEmpty { throw refusal("the value is empty") }
        return text
    }

    /// Returns the value as a whole number within `range`.
    func integer(_ range: ClosedRange<Int>) throws(Failure) -> Int {
        guard let first = text.utf8.first, (0x30...0x39).contains(first), let number = Int(text), range ~= number
        else { throw refusal("expected a whole number from \(range.lowerBound) to \(range.upperBound)") }
        return number
    }

    /// Returns the value as yes or no, written `true` or `false`.
    func yesNo() throws(Failure) -> Bool {
        guard let value = Bool(text) else { throw refusal("expected true or false") }
        return value
    }

    /// Returns the value as a size of at least `minimum` bytes.
    func bytes(_ minimum: Int) throws(Failure) -> Int {
        guard let size = ByteSize.parse(text[...]), size >= minimum else {
            throw refusal("expected a size of at least \(minimum) bytes, such as 256MiB")
        }
        return size
    }

    /// Returns the value as a duration in milliseconds within `range`.
    func duration(_ range: ClosedRange<Int64>) throws(Failure) -> Int64 {
        try duration(text[...], range)
    }

    /// Returns a part of the value as a duration in milliseconds within `range`.
    func duration(_ part: Substring, _ range: ClosedRange<Int64>) throws(Failure) -> Int64 {
        let milliseconds: Int64
        do throws(TextError) {
            milliseconds = try DurationText.parse(Array(part.utf8))
        } catch {
            throw refusal(error.message)
        }
        guard range ~= milliseconds else {
            let (least, most) = (DurationText.text(range.lowerBound), DurationText.text(range.upperBound))
            throw refusal("expected from \(least) to \(most)")
        }
        return milliseconds
    }

    /// Returns the value as one of the words of an enumeration.
    func word<Word: RawRepresentable & CaseIterable>(_: Word.Type) throws(Failure) -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            throw refusal("expected \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }
}

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

/// Sizes as a person writes them.
enum ByteSize {
    /// The largest size, 1 EiB: no single device stores more.
    static let maximum = 1 << 60

    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("B", 1)]

    /// Reads `1GiB`, `512MiB`, `64KiB`, `100B`: a whole number and its unit. Returns nil for anything else.
    static func parse(_ text: Substring) -> Int? {
        guard let (name, unit) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
        let digits = text.dropLast(name.count)
        guard let first = digits.utf8.first, (0x30...0x39).contains(first), let number = Int(digits),
            number <= maximum / unit
        else { return nil }
        return number * unit
    }
}
