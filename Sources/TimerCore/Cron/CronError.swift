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
