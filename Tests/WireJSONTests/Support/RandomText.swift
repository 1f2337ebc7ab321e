import TestSupport

/// Random JSON texts in all their spellings: white space, escapes, number forms, nesting.
struct RandomText {
    var random: SeededGenerator
    private(set) var bytes: [UInt8] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Another valid text without duplicate keys.
    mutating func next() -> [UInt8] {
        bytes.removeAll(keepingCapacity: true)
        space()
        value(depth: 0)
        space()
        return bytes
    }

    private mutating func value(depth: Int) {
        switch Int.random(in: 0..<(depth < 6 ? 9 : 5), using: &random) {
        case 0: write("null")
        case 1: write(Bool.random(using: &random) ? "true" : "false")
        case 2: number()
        case 3, 4: string(prefix: "")
        case 5, 6: list("[", "]") { text, _ in text.value(depth: depth + 1) }
        default:
            list("{", "}") { text, index in
                // The index keeps keys apart; the rest makes some of them long and some escaped.
                text.string(prefix: String(index))
                text.space()
                text.write(":")
                text.space()
                text.value(depth: depth + 1)
            }
        }
    }

    private mutating func list(_ open: String, _ close: String, _ element: (inout RandomText, Int) -> Void) {
        write(open)
        space()
        let count = random.chance(oneIn: 20) ? 40 : Int.random(in: 0..<5, using: &random)
        for index in 0..<count {
            if index > 0 { write(",") }
            space()
            element(&self, index)
            space()
        }
        write(close)
    }

    private mutating func number() {
        if Bool.random(using: &random) { write("-") }
        let places = Int.random(in: 0..<20, using: &random)
        write(places == 0 ? "0" : String(Int.random(in: 1...9, using: &random)))
        digits(max(places - 1, 0))
        let exponents = places == 0 ? ["e+", "e-"] : ["e", "E", "e+", "E+", "e-", "E-"]
        if random.chance(oneIn: 3) {
            write(".")
            digits(Int.random(in: 1...20, using: &random))
        }
        if random.chance(oneIn: 3) {
            write(exponents.randomElement(using: &random) ?? "e")
            write(String(Int.random(in: 0...280, using: &random)))
        }
    }

    private mutating func digits(_ count: Int) {
        for _ in 0..<count { write(String(Int.random(in: 0...9, using: &random))) }
    }

    private mutating func string(prefix: String) {
        write("\"\(prefix)")
        for _ in 0..<Int.random(in: 0..<24, using: &random) {
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                write(["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"].randomElement(using: &random) ?? "")
            case 1:
                write(
                    ["\\u0041", "\\u00e9", "\\u20AC", "\\uD83D\\uDE00", "\\u0000"].randomElement(using: &random) ?? "")
            case 2:
                write(
                    ["é", "€", "😀", "\u{7FF}", "\u{FFFF}", "\u{10FFFF}", "\u{7F}"].randomElement(using: &random) ?? "")
            default: bytes.append(UInt8(ascii: "a") + UInt8.random(in: 0..<26, using: &random))
            }
        }
        write("\"")
    }

    private mutating func space() {
        guard random.chance(oneIn: 4) else { return }
        write([" ", "\n", "\t", "\r\n", "    "].randomElement(using: &random) ?? " ")
    }

    private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
