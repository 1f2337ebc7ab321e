/// The bytes that the grammars of this module name.
enum ASCII {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let slash = UInt8(ascii: "/")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let dot = UInt8(ascii: ".")
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let zero = UInt8(ascii: "0")
    static let nine = UInt8(ascii: "9")
    static let space = UInt8(ascii: " ")
    static let newline = UInt8(ascii: "\n")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")

    /// Whether `byte` is one of `0` to `9`.
    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    /// Whether `byte` is the `e` or `E` of a number's exponent.
    @inline(__always)
    static func isExponent(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "e") }

    /// Whether `byte` is JSON white space: space, tab, line feed or carriage return.
    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool {
        byte <= space && (byte == space || byte == newline || byte == 0x0D || byte == 0x09)
    }
}
