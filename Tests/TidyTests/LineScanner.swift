/// A scanner that drops comments, and the contents of string literals and raw identifiers, from the lines of one file.
///
/// The scanner knows only as much of Swift as the rules need: an interpolation counts as text, an extended delimiter (`#"…"#`)
/// as a plain one. The quotes themselves stay, so that the rest still reads as code.
struct LineScanner {
    private enum Place {
        case code
        case blockComment(depth: Int)
        case multilineText
    }

    private var place = Place.code

    /// The code on `line`, without blanks at its end. Call with the lines of a file in order.
    mutating func code(of line: String) -> String {
        var code = ""
        var rest = line[...]
        while !rest.isEmpty {
            switch place {
            case .code: scanCode(&rest, into: &code)
            case .blockComment(let depth): scanComment(&rest, depth: depth)
            case .multilineText: scanMultilineText(&rest)
            }
        }
        while code.last == " " { code.removeLast() }
        return code
    }

    private mutating func scanCode(_ rest: inout Substring, into code: inout String) {
        if rest.hasPrefix("//") {
            rest = ""
        } else if rest.hasPrefix("/*") {
            rest.removeFirst(2)
            place = .blockComment(depth: 1)
        } else if rest.hasPrefix("\"\"\"") {
            rest.removeFirst(3)
            place = .multilineText
        } else if let delimiter = rest.first, delimiter == "\"" || delimiter == "`" {
            code += "\(delimiter)\(delimiter)"
            Self.skipText(&rest, to: delimiter)
        } else {
            code.append(rest.removeFirst())
        }
    }

    private mutating func scanComment(_ rest: inout Substring, depth: Int) {
        if rest.hasPrefix("*/") {
            rest.removeFirst(2)
            place = depth == 1 ? .code : .blockComment(depth: depth - 1)
        } else if rest.hasPrefix("/*") {
            rest.removeFirst(2)
            place = .blockComment(depth: depth + 1)
        } else {
            rest.removeFirst()
        }
    }

    private mutating func scanMultilineText(_ rest: inout Substring) {
        if rest.hasPrefix("\"\"\"") {
            rest.removeFirst(3)
            place = .code
        } else {
            rest.removeFirst(rest.first == "\\" && rest.count > 1 ? 2 : 1)
        }
    }

    private static func skipText(_ rest: inout Substring, to delimiter: Character) {
        rest.removeFirst()
        while let character = rest.popFirst(), character != delimiter {
            if character == "\\" && delimiter == "\"" { _ = rest.popFirst() }
        }
    }
}
