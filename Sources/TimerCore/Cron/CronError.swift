/// The reason a cron expression was refused, in one line that names the field.
public struct CronError: Error, Sendable, Equatable {
    /// The line, such as `minute: 61 is not in 0-59`, of visible characters and spaces, whatever the expression held.
    public let message: String

    init(_ message: String) { self.message = message }

    /// Returns text from outside as a message may show it: in quotes, cut to 32 characters, each invisible one as
    /// its code point.
    static func quote(_ text: some Sequence<UInt8>) -> String {
        let limit = 32
        let scalars = Array(String(decoding: Array(text), as: UTF8.self).unicodeScalars.prefix(limit + 1))
        let shown = scalars.prefix(scalars.count > limit ? limit - 3 : limit).map(shown).joined()
        return "'\(shown)\(scalars.count > limit ? "..." : "")'"
    }

    /// Returns a character, or `<U+00A0>` for one that can't be seen by itself.
    private static func shown(_ scalar: Unicode.Scalar) -> String {
        scalar == " " || scalar.isVisible ? String(scalar) : "<\(scalar.codePoint)>"
    }
}

// Syntax and characters of other programs, each with what to write instead. Only a refused text is searched for them.
extension CronError {
    /// Makes the error for a refused text that holds a character that no expression has, or the syntax of another
    /// scheduler; nil for any other text.
    init?(foreign text: [UInt8]) {
        guard let message = Self.foreignCharacter(in: text) ?? Self.foreignSyntax(in: text) else { return nil }
        self.init(message)
    }

    private static func foreignSyntax(in text: [UInt8]) -> String? {
        let words = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = words.first else { return nil }
        let upper = first.map(CronField.uppercase)
        if upper.starts(with: "CRON_TZ=".utf8) || upper.starts(with: "TZ=".utf8) {
            return "\(quote(first)): the time zone is no part of the expression; give it in the field `timeZone` "
                + "(--time-zone on the command line)"
        }
        if upper.elementsEqual("@EVERY".utf8) {
            let period = words.dropFirst().first.map { " with \(quote($0))" } ?? ""
            return "@every is a period and no cron expression: use the field `every`\(period) instead of `cron`"
        }
        if upper.starts(with: "RATE(".utf8) {
            return "\(quote(first)) is a period and no cron expression: use the field `every` instead of `cron`"
        }
        if upper.starts(with: "CRON(".utf8) {
            return "cron(...): write the five fields alone, without the parentheses and the last field, the year"
        }
        return yearField(in: words)
    }

    /// Returns the reason if one of the fields is a year, which Quartz has as a seventh and EventBridge as a sixth.
    private static func yearField(in words: [ArraySlice<UInt8>]) -> String? {
        let instead = "to end a schedule use the field `until`, for a single instant `at`"
        if words.count == 7 {
            return "there are 7 fields, and a field for the year is not supported: leave it out; \(instead)"
        }
        guard words.count == 6 else { return nil }
        let year = CronField.number(words[5].prefix(4)) ?? 0
        guard year >= 1970 || words[2].elementsEqual("?".utf8) || words[4].elementsEqual("?".utf8) else { return nil }
        return "of 6 fields the first is for seconds, and a field for the year is not supported: leave the year out; "
            + instead
    }
}

// Characters.
extension CronError {
    /// Returns the reason if a text holds a character that is neither visible ASCII nor a space or tab.
    private static func foreignCharacter(in text: [UInt8]) -> String? {
        let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
        guard let place = scalars.firstIndex(where: { !isBlank($0) && !(0x21...0x7E).contains($0.value) }) else {
            return nil
        }
        let before = scalars[..<place].lastIndex(where: isBlank)
        let start = before.map(scalars.index(after:)) ?? scalars.startIndex
        let end = scalars[place...].firstIndex(where: isBlank) ?? scalars.endIndex
        let character = scalars[place]
        let name = character.isVisible ? "'\(character)' (\(character.codePoint))" : character.codePoint
        return "\(quote(String(scalars[start..<end]).utf8)): \(name) \(meaning(of: character))"
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    /// Returns the reason why an expression can't hold `character`, with the character that was probably meant.
    private static func meaning(of character: Unicode.Scalar) -> String {
        // The full-width forms of ASCII.
        if (0xFF01...0xFF5E).contains(character.value), let plain = Unicode.Scalar(character.value - 0xFEE0) {
            return "is not the ASCII character '\(plain)'"
        }
        // The minus sign and the soft hyphen are no dashes to Unicode.
        if character.value == 0x2212 || character.value == 0xAD { return "is no hyphen '-'" }
        if [0x2217, 0x204E, 0x2731, 0x2733].contains(character.value) { return "is no asterisk '*'" }
        switch character.properties.generalCategory {
        case .dashPunctuation: return "is no hyphen '-'"
        case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control:
            return "is no plain space, which separates fields"
        case .initialPunctuation, .finalPunctuation: return "is a quotation mark: leave it out"
        case .format: return "is invisible: delete it"
        default: return "is in no expression: they are ASCII"
        }
    }
}

extension Unicode.Scalar {
    /// Whether the character can be seen by itself: it is no space, control, format or combining character.
    var isVisible: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol,
            .otherSymbol:
            true
        default: false
        }
    }

    /// The number of the character as Unicode writes it, such as `U+00A0`.
    var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(4 - digits.count, 0)) + digits
    }
}
