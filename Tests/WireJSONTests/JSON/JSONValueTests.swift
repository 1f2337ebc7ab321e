import Testing
import WireJSON

/// Values: kinds, navigation, strings, numbers, pointers, compaction.
@Suite struct JSONValueTests {
    @Test func `a document that has parsed nothing reads as null`() {
        let document = JSONDocument()
        var bytes: [UInt8] = []
        document.appendCompact(document.root, to: &bytes)
        #expect(document.kind(document.root) == .null)
        #expect(document.firstChild(document.root) == nil)
        #expect(document.next(document.root) == nil)
        #expect(document.pointer(to: document.root) == "")
        #expect(text(bytes) == "null")
    }

    @Test func `a document can be used again, after a failure too`() throws {
        var document = JSONDocument()
        try document.parse(Array("{\"a\":[1,2,3]}".utf8))
        #expect(throws: JSONError.self) { try document.parse(Array("[1,2,".utf8)) }
        #expect(document.kind(document.root) == .null)
        #expect(document.firstChild(document.root) == nil)
        try document.parse(Array("[7]".utf8))
        let element = try #require(document.firstChild(document.root))
        #expect(document.integer(element) == 7)
        #expect(document.next(element) == nil)
        document.reset()
        #expect(document.kind(document.root) == .null)
    }

    @Test func `children come in order, with their kinds`() throws {
        let document = try document(#"{"a":{},"b":[],"c":"s","d":1,"e":true,"f":false,"g":null,"h":[[1],2]}"#)
        var kinds: [JSONKind] = []
        var keys = ""
        var child = document.firstChild(document.root)
        while let node = child {
            kinds.append(document.kind(node))
            keys += text(document.keyBytes(node))
            child = document.next(node)
        }
        #expect(kinds == [.object, .array, .string, .number, .true, .false, .null, .array])
        #expect(keys == "abcdefgh")
        let list = try #require(document.member(document.root, "h"))
        let inner = try #require(document.firstChild(list))
        #expect(document.kind(inner) == .array)
        #expect(document.next(inner).flatMap { document.integer($0) } == 2)
        #expect(document.member(document.root, "a").flatMap { document.firstChild($0) } == nil)
        #expect(document.member(document.root, "z") == nil)
        #expect(document.member(list, "a") == nil)
    }

    @Test(arguments: [
        (#""""#, ""), (#""abc""#, "abc"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0041\u00e9\u20AC\uD83D\uDE00\u0000!""#, "Aé€😀\0!"), (#""a\nb\nc""#, "a\nb\nc"), (#""é€😀""#, "é€😀"),
        (#""\\n""#, "\\n"), (#""\uFFFF\u07FF\u0800""#, "\u{FFFF}\u{7FF}\u{800}"),
    ])
    func `a string is unescaped`(json: String, expected: String) throws {
        let document = try document(json)
        #expect(document.string(document.root) == Array(expected.utf8))
        var bytes = Array("> ".utf8)
        document.appendString(document.root, to: &bytes)
        #expect(text(bytes) == "> " + expected)
        let place = document.stringPlace(document.root)
        #expect(Array(place.bytes[place.range]) == Array(expected.utf8))
    }

    @Test func `a string compares unescaped with a literal`() throws {
        let document = try document(#"["manual","\u006danual","manua",1]"#)
        var results: [Bool] = []
        var child = document.firstChild(document.root)
        while let node = child {
            results.append(document.string(node, equals: "manual"))
            child = document.next(node)
        }
        #expect(results == [true, true, false, false])
    }

    @Test(arguments: ["1", "[]", "{}", "true", "null"])
    func `only a string has a string`(json: String) throws {
        let document = try document(json)
        #expect(document.string(document.root).isEmpty)
        #expect(document.stringPlace(document.root).range.isEmpty)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("0.0", 0), ("0e99", 0), ("0e-99", 0), ("1", 1), ("-1", -1), ("1.0", 1), ("1e3", 1000),
            ("10e-1", 1), ("1.5e1", 15), ("0.001e3", 1), ("1200e-2", 12), ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9223372036854775808", nil), ("-9223372036854775809", nil),
            ("9223372036854775807.0", .max), ("9.223372036854775807e18", .max), ("922337203685477580700e-2", .max),
            ("-9223372036854775808000e-3", .min), ("1e18", 1_000_000_000_000_000_000), ("1e19", nil), ("-1e19", nil),
            ("9e18", 9_000_000_000_000_000_000), ("10e18", nil), ("18446744073709551615", nil),
            ("18446744073709551616", nil), ("9007199254740993", 9_007_199_254_740_993), ("0.5", nil), ("1.1", nil),
            ("1e-1", nil), ("1.0000000000000000000000000001", nil), ("1e999999999999999999999", nil),
            ("1e-999999999999999999999", nil), ("0e999999999999999999999", 0), ("12345678901234567890123", nil),
            ("\"1\"", nil), ("true", nil), ("[1]", nil),
        ] as [(String, Int64?)])
    func `an integer is exact or none`(json: String, expected: Int64?) throws {
        let document = try document(json)
        #expect(document.integer(document.root) == expected)
    }

    @Test func `zeros before and after make up for an exponent, however many`() throws {
        let zeros = String(repeating: "0", count: 5000)
        let small = try document("0.\(zeros)7e5001")
        #expect(small.integer(small.root) == 7)
        #expect(small.number(small.root) == 7)
        let large = try document("7\(zeros)e-5000")
        #expect(large.integer(large.root) == 7)
    }

    @Test(arguments: [
        "0", "1", "-1.5", "0.1", "3.141592653589793", "1e22", "1e23", "123456789012345678", "9007199254740993",
        "5e-324",
        "2.2250738585072011e-308", "1.7976931348623157e308", "0.30000000000000004", "1e-400", "8.5e15", "-0.0",
        "123456789.123456789e-30", "4503599627370496.5", "100000000000000000000000000000000000000000",
    ])
    func `a number is the nearest Double`(json: String) throws {
        let document = try document(json)
        let expected = try #require(Double(json))
        #expect(document.number(document.root)?.bitPattern == expected.bitPattern)
    }

    @Test(arguments: ["1e309", "-1e999", "\"1\"", "null"])
    func `what is no finite number has no Double`(json: String) throws {
        let document = try document(json)
        #expect(document.number(document.root) == nil)
    }

    @Test func `a pointer leads to its node`() throws {
        let document = try document(#"{"labels":{"a/b":1,"m~n":2,"":3,"\u00e9":[0,[4]]}}"#)
        let labels = try #require(document.member(document.root, "labels"))
        var pointers: [String] = []
        var child = document.firstChild(labels)
        while let node = child {
            pointers.append(document.pointer(to: node))
            child = document.next(node)
        }
        #expect(document.pointer(to: document.root) == "")
        #expect(pointers == ["/labels/a~1b", "/labels/m~0n", "/labels/", "/labels/é"])
        let list = try #require(document.member(labels, "é"))
        let inner = try #require(document.firstChild(list).flatMap { document.next($0) })
        let deepest = try #require(document.firstChild(inner))
        #expect(document.pointer(to: deepest) == "/labels/é/1/0")
    }

    @Test(arguments: [
        ("1.0e+00", "1.0e+00"), (" \"a b\\u0020\\/\" ", "\"a b\\u0020\\/\""), ("[ ]", "[]"), ("{ }", "{}"),
        (" [ 1 , 2.50 ] ", "[1,2.50]"),
        ("{\"b\" : 1 ,\r\n\t\"a\" : \" x \\\" y \\\\\" }", "{\"b\":1,\"a\":\" x \\\" y \\\\\"}"),
        ("[ true , false , null ]", "[true,false,null]"), ("[\"é  😀\" ]", "[\"é  😀\"]"), ("{\"a\":[1]}", "{\"a\":[1]}"),
        ("[\"\\\\\" , \" \\\\\\\" , \"]", "[\"\\\\\",\" \\\\\\\" , \"]"),
    ])
    func `a compact value is verbatim but for white space between tokens`(json: String, expected: String) throws {
        let document = try document(json)
        var bytes = Array("=".utf8)
        document.appendCompact(document.root, to: &bytes)
        #expect(text(bytes) == "=" + expected)
        #expect(text(Array(document.compactSlice(document.root))) == expected)
    }

    @Test func `an inner value is copied alone`() throws {
        let document = try document(
            " {\"a\": 1, \"payload\": {\"x\": [1, \" \"], \"y\": \"\\n\"}, \"s\": \"q\", \"b\": 2} ")
        func compact(_ name: StaticString) throws -> String {
            var bytes: [UInt8] = []
            document.appendCompact(try #require(document.member(document.root, name)), to: &bytes)
            return text(bytes)
        }
        let string = document.stringPlace(try #require(document.member(document.root, "s")))
        #expect(text(Array(string.bytes[string.range])) == "q")
        #expect(try compact("payload") == "{\"x\":[1,\" \"],\"y\":\"\\n\"}")
        #expect(try compact("s") == "\"q\"")
        #expect(try compact("a") == "1")
    }
}
