import Testing
import WireJSON

/// The texts that are JSON, by the categories of the well-known parsing test suites.
@Suite struct JSONAcceptanceTests {
    @Test(arguments: [
        // arrays and objects
        "[]", "[ ]", "[[]]", "[[],[[]]]", "[1,2]", "[null]", "[\"a\"]", "[1\n]", " [1]", "[2] ", "[1,null,null,null,2]",
        "{}", "{ }", "{\"\":0}", "{\"a\":[]}", "{\"a\":{\"a\":{}}}", "{\"a\":1,\"b\":2}", "{\"a\":1,\"A\":2}",
        "{\"foo\\u0000bar\":42}", "{\n\"a\": \"b\"\n}", "{\"a\":1,\"a \":2}", "[{\"a\":1},{\"a\":1}]",
        "{\"a\":{\"a\":1}}",
        // scalars at the top
        "null", "true", "false", "0", "\"\"", "\" \"", "\t\r\n 1 \t\r\n",
        // numbers
        "-0", "-1", "123", "1e1", "1E1", "1e+1", "1E-2", "0e1", "0e+1", "20e1", "1.5", "-0.0", "123.456e78",
        "0.000000000000000000000000000000000001", "123456789012345678901234567890", "1e999", "-1e-999",
        // strings
        #""\"\\\/\b\f\n\r\t""#, #""\u0060\u012a\u12AB""#, #""\uD801\udc37""#, #""\ud83d\ude39\ud83d\udc8d""#,
        #""\uDBFF\uDFFF""#, #""\u0000""#, #""\uFFFF""#, #""\\u0000""#, #""a/*b*/c/*d//e""#, #""\\a""#, #""\\n""#,
        "\"\u{7F}\"", "\"π\"", "\"\u{2028}\u{2029}\"", "\"\u{E000}\"", "\"\u{FFFF}\"", "\"\u{1FFFF}\"",
        "\"\u{10FFFF}\"",
        "\"\u{80}\"", "\"\u{800}\"", "\"\u{D7FF}\"", "\"\u{10000}\"", "\"asd \"", "\"new\u{A0}line\"", "\"€𝄞\"",
    ])
    func `a JSON text is accepted`(json: String) {
        #expect(refusal(json) == nil)
    }

    @Test(
        arguments: [
            // empty texts, and trailing bytes
            ("", "empty text"), (" ", "empty text"), ("\n\t", "empty text"), ("\u{FEFF}1", "byte order mark"),
            ("\u{FEFF}", "byte order mark"), ("1 2", "trailing bytes"), ("{}}", "trailing bytes"),
            ("[]]", "trailing bytes"), ("\"a\"b", "trailing bytes"), ("{}//", "trailing bytes"),
            ("[1],", "trailing bytes"),
            ("nullx", "trailing bytes"), ("\"\"\u{FEFF}", "trailing bytes"), ("1\0", "trailing bytes"),
            // arrays
            ("[", "unexpected end"), ("[1", "unexpected end"), ("[1,", "unexpected end"), ("[[", "unexpected end"),
            ("[1,]", "expected a value"), ("[,]", "expected a value"), ("[,1]", "expected a value"),
            ("[1,,2]", "expected a value"), ("]", "expected a value"), ("[1 2]", "expected a comma or ]"),
            ("[1:2]", "expected a comma or ]"), ("[1}", "expected a comma or ]"), ("[1;", "expected a comma or ]"),
            ("[\u{0B}1]", "expected a value"), ("[\u{A0}1]", "expected a value"),
            ("[1\u{0C}]", "expected a comma or ]"),
            // objects
            ("{", "unexpected end"), ("{\"a\"", "unexpected end"), ("{\"a\":", "unexpected end"),
            ("{\"a\":1", "unexpected end"), ("{\"a\":1,", "unexpected end"), ("{\"a", "unexpected end"),
            ("{a:1}", "expected a key in quotes"), ("{'a':1}", "expected a key in quotes"),
            ("{1:1}", "expected a key in quotes"), ("{\"a\":1,}", "expected a key in quotes"),
            ("{,}", "expected a key in quotes"), ("{null:1}", "expected a key in quotes"),
            ("{]", "expected a key in quotes"),
            ("{\"a\" 1}", "expected a colon"), ("{\"a\",1}", "expected a colon"), ("{\"a\"}", "expected a colon"),
            ("{\"a\"::1}", "expected a value"), ("{\"a\":}", "expected a value"), ("{\"a\":/**/1}", "expected a value"),
            ("{\"a\":1 \"b\":2}", "expected a comma or }"), ("{\"a\":1]", "expected a comma or }"),
            ("}", "expected a value"), (":", "expected a value"), (",", "expected a value"),
            // words
            ("nul", "expected a value"), ("True", "expected a value"), ("TRUE", "expected a value"),
            ("fals", "expected a value"), ("tru1", "expected a value"), ("undefined", "expected a value"),
            ("NaN", "expected a value"), ("Infinity", "expected a value"), ("'a'", "expected a value"),
            ("*", "expected a value"), ("#", "expected a value"), ("é", "expected a value"),
            ("\\u0061", "expected a value"),
            // numbers
            ("01", "invalid number"), ("-01", "invalid number"), ("00", "invalid number"), ("012.5", "invalid number"),
            ("-", "unexpected end"), ("1.", "unexpected end"), ("1e", "unexpected end"), ("1e+", "unexpected end"),
            ("[1.]", "invalid number"), ("[-]", "invalid number"), ("[1e]", "invalid number"),
            ("[1eE2]", "invalid number"),
            ("[0e+-1]", "invalid number"), ("[2.e3]", "invalid number"), ("[-a]", "invalid number"),
            ("[--1]", "invalid number"), ("[-Infinity]", "invalid number"), ("[- 1]", "invalid number"),
            ("[+1]", "expected a value"), ("[.5]", "expected a value"), ("[0x1]", "expected a comma or ]"),
            ("[1_000]", "expected a comma or ]"), ("[1.2.3]", "expected a comma or ]"), ("[１]", "expected a value"),
            ("[1a]", "expected a comma or ]"), ("[1e1.5]", "expected a comma or ]"),
            // strings
            ("\"", "unexpected end"), ("\"a", "unexpected end"), ("\"\\", "unexpected end"),
            ("\"\\\"", "unexpected end"),
            ("\"a long text without an end", "unexpected end"),
            (#""\x41""#, "invalid escape"), (#""\a""#, "invalid escape"), (#""\ ""#, "invalid escape"),
            (#""\U0041""#, "invalid escape"), (#""\u""#, "invalid escape"), (#""\u00A""#, "invalid escape"),
            (#""\u00G0""#, "invalid escape"), (#""\u+041""#, "invalid escape"), (#""\u004"#, "invalid escape"),
            ("\"\\é\"", "invalid escape"), ("\"\\\0\"", "invalid escape"), ("\"\\\n\"", "invalid escape"),
            (#""\uD800""#, "lone surrogate escape"), (#""\uDC00""#, "lone surrogate escape"),
            (#""\uDFFF\uD800""#, "lone surrogate escape"), (#""\uD800\n""#, "lone surrogate escape"),
            (#""\uD800\uD800""#, "lone surrogate escape"), (#""\uD800\u0041""#, "lone surrogate escape"),
            (#""\uD800abcdefgh""#, "lone surrogate escape"), (#""\uD800\u00""#, "invalid escape"),
            (#""\uD800"#, "lone surrogate escape"), (#"["\uD83D",1]"#, "lone surrogate escape"),
        ] as [(String, String)])
    func `what is not JSON is refused`(json: String, message: String) {
        #expect(refusal(json)?.message == message)
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xC3, 0xC3], [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
            [0xF0, 0x9F, 0x98, 0x28], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
            [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] as [[UInt8]])
    func `invalid UTF-8 is refused in strings and keys, wherever it stands`(bad: [UInt8]) {
        for prefix in 0..<10 {
            let before = Array("[\"".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: prefix)
            let error = refusal(before + bad + Array("\"]".utf8))
            #expect(error == JSONError(pointer: "/0", offset: before.count, message: "invalid UTF-8"))
        }
        #expect(refusal(Array("{\"".utf8) + bad + Array("\":1}".utf8))?.message == "invalid UTF-8")
        #expect(refusal([UInt8(ascii: "\"")] + bad)?.message == "invalid UTF-8")
    }

    @Test func `every scalar value is accepted in a string, and nothing else of the same length`() {
        // Two bytes: all 65536 pairs; the standard library knows which are UTF-8.
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let inside = [first, second]
                let isUTF8 = String(validating: inside, as: UTF8.self) != nil
                let isPlain = inside.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
                let isEscape = first == UInt8(ascii: "\\") && Array("\"\\/bfnrt".utf8).contains(second)
                let quote = UInt8(ascii: "\"")
                if (refusal([quote] + inside + [quote]) == nil) != (isUTF8 && isPlain || isEscape) {
                    Issue.record("\(inside)")
                }
            }
        }
    }

    @Test(arguments: 0..<UInt8(0x20))
    func `every control character is refused in a string, wherever it stands`(control: UInt8) {
        for prefix in 0..<10 {
            let inside = [UInt8](repeating: UInt8(ascii: "x"), count: prefix) + [control]
            let error = refusal([UInt8(ascii: "\"")] + inside + Array("xxxxxxxx\"".utf8))
            #expect(error?.message == "control character in a string")
            #expect(error?.offset == prefix + 1)
        }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `only the four white space bytes may stand between tokens`(byte: UInt8) {
        let isSpace = Array(" \t\n\r".utf8).contains(byte)
        #expect(
            (refusal([UInt8(ascii: "["), byte, UInt8(ascii: "]")]) == nil)
                == (isSpace || byte == UInt8(ascii: "0")
                    || (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(byte)))
        #expect(
            (refusal(Array("1".utf8) + [byte, byte]) == nil)
                == (isSpace
                    || (UInt8(ascii: "0")...UInt8(ascii: "9"))
                        .contains(byte))
        )
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
    func `nesting is accepted 32 deep and refused 33 deep`(open: String, close: String) {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        #expect(refusal(nested(32)) == nil)
        #expect(refusal(nested(33))?.message == "nesting over 32")
        #expect(refusal(String(repeating: open, count: 100_000))?.message == "nesting over 32")
    }

    @Test(arguments: [0, 1, 5, 33])
    func `a refusal names the depth that the caller allows`(maximumDepth: Int) throws {
        let bytes = Array(String(repeating: "[", count: maximumDepth + 1).utf8)
        var document = JSONDocument()
        let error = #expect(throws: JSONError.self) {
            try document.parse(bytes, 0..<bytes.count, maximumDepth: maximumDepth)
        }
        #expect(error?.message == "nesting over \(maximumDepth)")
    }

    @Test func `containers side by side do not add up to nesting`() {
        #expect(refusal("[" + String(repeating: "[[]],", count: 1000) + "{}]") == nil)
    }
}
