import Foundation
import TestSupport
import Testing
import WireJSON

@Suite struct JSONWriterTests {
    @Test func `commas come where they belong`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.integer(1)
        writer.key("b")
        writer.beginArray()
        writer.integer(1)
        writer.beginObject()
        writer.endObject()
        writer.beginArray()
        writer.endArray()
        writer.bool(true)
        writer.bool(false)
        writer.null()
        writer.string("x")
        writer.endArray()
        writer.key("c")
        writer.beginObject()
        writer.key(bytes: Array("d\"".utf8))
        writer.null()
        writer.key(bytes: Array("xey".utf8).span, 1..<2)
        writer.raw(Array("[1.0]".utf8))
        writer.key("f")
        writer.raw(Array(" 2 ".utf8).span, 1..<2)
        writer.endObject()
        writer.key("g")
        writer.string("static" as StaticString)
        writer.endObject()
        #expect(
            text(writer.bytes)
                == #"{"a":1,"b":[1,{},[],true,false,null,"x"],"c":{"d\"":null,"e":[1.0],"f":2},"g":"static"}"#)
    }

    @Test func `a member is its key and its value`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a", "x")
        writer.member("b", Int64.min)
        writer.member("c", nil as Int64?)
        writer.member("d", true)
        writer.member("e", false)
        writer.member("f", instant: 0)
        writer.member("g", instant: nil)
        writer.member("h", duration: DurationText.maximum - 1)
        writer.member("i", duration: nil)
        writer.endObject()
        #expect(
            text(writer.bytes)
                == #"{"a":"x","b":-9223372036854775808,"c":null,"d":true,"e":false,"f":"1970-01-01T00:00:00.000Z","#
                + #""g":null,"h":"36524d23h59m59s999ms","i":null}"#)
    }

    @Test func `top-level values stand on lines of their own`() {
        var writer = JSONWriter()
        for value in [1, 2] as [Int64] {
            writer.beginArray()
            writer.integer(value)
            writer.endArray()
            writer.newline()
        }
        #expect(text(writer.bytes) == "[1]\n[2]\n")
    }

    @Test func `a reset writer starts afresh`() {
        var writer = JSONWriter()
        writer.beginArray()
        writer.integer(1)
        writer.reset()
        #expect(writer.bytes.isEmpty)
        writer.integer(2)
        #expect(text(writer.bytes) == "2")
    }

    @Test(
        arguments: [
            0, 1, -1, 9, 10, 99, 100, 12345, -12345, 1_000_000_000_000, 999_999_999_999_999_999, .max, .min, .min + 1,
        ] as [Int64])
    func `an integer is written in decimal`(value: Int64) {
        var writer = JSONWriter()
        writer.integer(value)
        #expect(text(writer.bytes) == String(value))
    }

    @Test func `integers of every length are written in decimal`() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let value = Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random)
            var writer = JSONWriter()
            writer.integer(value)
            #expect(text(writer.bytes) == String(value))
        }
    }

    @Test(
        arguments: [
            (0, "0"), (2, "2"), (-0.0, "0"), (0.2, "0.2"), (1.1, "1.1"), (-1.5, "-1.5"),
            (0x1p62, "4611686018427387904"), (0.1 + 0.2, nil), (1e300, nil), (1e-5, nil), (1.0.nextUp, nil),
            (.leastNonzeroMagnitude, nil), (.greatestFiniteMagnitude, nil),
        ] as [(Double, String?)])
    func `a number reads back as the same one`(value: Double, expected: String?) throws {
        var writer = JSONWriter()
        writer.beginArray()
        writer.number(value)
        writer.number(value)
        writer.endArray()
        if let expected { #expect(text(writer.bytes) == "[\(expected),\(expected)]") }
        var document = JSONDocument()
        try document.parse(writer.bytes)
        #expect(document.children(of: document.root).map { document.number($0) } == [value, value])
    }

    @Test func `only quote, backslash and control characters are escaped`() {
        for value in UInt8.min..<0x80 {
            var writer = JSONWriter()
            writer.string([value])
            let expected =
                switch value {
                case UInt8(ascii: "\""): #"\""#
                case UInt8(ascii: "\\"): #"\\"#
                case 0x08: #"\b"#
                case 0x09: #"\t"#
                case 0x0A: #"\n"#
                case 0x0C: #"\f"#
                case 0x0D: #"\r"#
                case 0x00...0x0F: "\\u000" + String(value, radix: 16)
                case 0x10...0x1F: "\\u00" + String(value, radix: 16)
                default: String(UnicodeScalar(value))
                }
            #expect(text(writer.bytes) == "\"\(expected)\"")
        }
        var writer = JSONWriter()
        writer.string("/é€😀\u{7F}\u{2028}")
        #expect(text(writer.bytes) == "\"/é€😀\u{7F}\u{2028}\"")
    }

    @Test func `an escape is found at any place of a string`() throws {
        for length in 1...20 {
            for place in 0..<length {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                bytes[place] = UInt8(ascii: "\n")
                var writer = JSONWriter()
                writer.string(bytes)
                var document = JSONDocument()
                try document.parse(writer.bytes)
                #expect(writer.bytes.count == length + 3)
                #expect(document.string(document.root) == bytes)
            }
        }
    }

    @Test func `what is written reads back, here and in Foundation`() throws {
        var random = SeededGenerator(seed: 9)
        let alphabet = Array("abcdefgh\"\\/\n\t\u{1}\u{7F}é€😀\u{FFFF}".unicodeScalars)
        for _ in 0..<500 {
            var string = ""
            for _ in 0..<Int.random(in: 0..<30, using: &random) {
                string.unicodeScalars.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
            }
            var writer = JSONWriter()
            writer.beginObject()
            writer.key(bytes: Array(string.utf8))
            writer.string(string)
            writer.key(bytes: Array(("x" + string).utf8))
            writer.string(Array(("ab" + string + "c").utf8).span, 2..<2 + string.utf8.count)
            writer.endObject()
            let expected = Tree.object([string: .string(string), "x" + string: .string(string)])
            var document = JSONDocument()
            try document.parse(writer.bytes)
            #expect(Tree(document, document.root) == expected)
            #expect(try JSONDecoder().decode(Tree.self, from: Data(writer.bytes)) == expected)
        }
    }

    @Test func `instants and durations are written as strings`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("at")
        writer.instant(0)
        writer.member("after", duration: 90_000)
        writer.endObject()
        #expect(text(writer.bytes) == #"{"at":"1970-01-01T00:00:00.000Z","after":"1m30s"}"#)
    }

    @Test func `an object is written with its members, and text that is absent is null`() {
        let object = JSONWriter.object { writer in
            writer.member("a", text: "é\"")
            writer.member("b", text: nil)
            writer.member("c", text: Array("x".utf8))
            writer.beginObject("d")
            writer.endObject()
            writer.beginArray("e")
            writer.endArray()
        }
        #expect(text(object) == #"{"a":"é\"","b":null,"c":"x","d":{},"e":[]}"#)
        #expect(text(JSONWriter.object { _ in }) == "{}")
    }
}
