import Primitives
import WireJSON

/// What a setting was set to, and by what, so that a refusal can name it.
struct SettingValue {
    /// What set it.
    let origin: SettingOrigin
    /// As it was written.
    let text: String

    /// The values of `setting`: of its flag, else of its variable, else of the file, else its default.
    ///
    /// White space around what a variable says is no part of it: a secret that an orchestrator passes on often ends in a
    /// newline.
    ///
    /// - Throws: where the variable is set and empty, which is a mistake, or a value has a control character in it.
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
            // Commas alone are no value; the text itself is refused then.
            return (parts.isEmpty ? [text] : parts).map { SettingValue(origin: .variable(setting), text: $0) }
        }
        if let values = file?[setting] { return values }
        return setting.initial.map { [SettingValue(origin: .initial(setting), text: $0)] } ?? []
    }

    /// The one value of `setting`; nil where it has neither a value nor a default.
    static func one(
        _ setting: Setting, flag: String?, _ environment: Environment
    ) throws(Failure) -> SettingValue? {
        try all(setting, flags: flag.map { [$0] } ?? [], environment).first
    }

    /// The failure that this value makes no sense.
    func refusal(_ reason: String) -> Failure { Failure(origin.code, "\(origin) \(text): \(reason)") }

    /// The same without the value, which may be a secret.
    func hiddenRefusal(_ reason: String) -> Failure { Failure(origin.code, "\(origin): \(reason)") }

    /// The value as text with something in it.
    func nonEmpty() throws(Failure) -> String {
        if text.isEmpty { throw refusal("the value is empty") }
        return text
    }

    /// The value as a whole number within `range`.
    func integer(_ range: ClosedRange<Int>) throws(Failure) -> Int {
        guard let first = text.utf8.first, (0x30...0x39).contains(first), let number = Int(text), range ~= number
        else { throw refusal("expected a whole number from \(range.lowerBound) to \(range.upperBound)") }
        return number
    }

    /// The value as yes or no.
    func yesNo() throws(Failure) -> Bool {
        guard let value = Bool(text) else { throw refusal("expected true or false") }
        return value
    }

    /// The value as a size of at least `minimum` bytes.
    func bytes(_ minimum: Int) throws(Failure) -> Int {
        guard let size = ByteSize.parse(text[...]), size >= minimum else {
            throw refusal("expected a size of at least \(minimum) bytes, such as 256MiB")
        }
        return size
    }

    /// The value as a duration in milliseconds within `range`.
    func duration(_ range: ClosedRange<Int64>) throws(Failure) -> Int64 {
        try duration(text[...], range)
    }

    /// As `duration(_:)`, of a part of the value.
    func duration(_ part: Substring, _ range: ClosedRange<Int64>) throws(Failure) -> Int64 {
        let milliseconds: Int64
        do throws(TextError) {
            milliseconds = try DurationText.parse(Array(part.utf8))
        } catch {
            throw refusal(error.message)
        }
        guard range ~= milliseconds else {
            throw refusal("expected from \(Self.words(range.lowerBound)) to \(Self.words(range.upperBound))")
        }
        return milliseconds
    }

    private static func words(_ milliseconds: Int64) -> String {
        var text: [UInt8] = []
        DurationText.append(milliseconds, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The value as one of the words of an enumeration.
    func word<Word: RawRepresentable & CaseIterable>(_: Word.Type) throws(Failure) -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            throw refusal("expected \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }
}
