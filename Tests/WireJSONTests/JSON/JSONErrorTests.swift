import Testing
import WireJSON

/// The place that an error reports.
@Suite struct JSONErrorTests {
    @Test(arguments: [
        ("", "", 0),
        ("  ", "", 2),
        ("nul", "", 0),
        ("1 2", "", 2),
        ("[1,x]", "/1", 3),
        ("[[],[0,01]]", "/1/1", 7),
        ("{\"a\":x}", "/a", 5),
        ("{\"a\" 1}", "/a", 5),
        ("{\"a\":[1,{\"b\":tru}]}", "/a/1/b", 13),
        ("{\"a\":1 2}", "", 7),
        ("{\"a\":{\"b\":1,}}", "/a", 12),
        ("{\"a\":[1}", "/a", 7),
        ("{\"a\":\"x\ny\"}", "/a", 7),
        ("{\"x\ny\":1}", "", 3),
        ("{\"a/b~c\":x}", "/a~1b~0c", 9),
        ("{\"\":x}", "/", 4),
        ("{\"\\u0061\\n\":x}", "/a\n", 12),
        ("{\"é\":[0,1,2,x]}", "/é/3", 13),
        ("[[1]", "", 4),
        ("[\"abc", "/0", 5),
    ])
    func `an error names the innermost value and the byte`(json: String, pointer: String, offset: Int) {
        let error = refusal(json)
        #expect(error?.pointer == pointer)
        #expect(error?.offset == offset)
    }

    @Test(arguments: [
        ("{\"a\":1,\"a\":2}", "/a", 7),
        ("{\"a\":1,\"\\u0061\":2}", "/a", 7),
        ("{\"\\u0061\":1,\"\\u0061\":2}", "/a", 12),
        ("{\"o\":[{\"k\":{},\"l\":1,\"k\":0}]}", "/o/0/k", 20),
        ("{\"\":1,\"\":2}", "/", 6),
        ("{\"😀\":1,\"\\uD83D\\uDE00\":2}", "/😀", 10),
        ("{\"/\":1,\"\\/\":2}", "/~1", 7),
        ("{\"a\":1,\"b\":2,\"b\":3,\"a\":4}", "/b", 13),
    ])
    func `a duplicate key is refused where it comes again`(json: String, pointer: String, offset: Int) {
        #expect(refusal(json) == JSONError(pointer: pointer, offset: offset, message: "duplicate key"))
    }

    @Test func `the offset in a line of a batch counts from the start of the line`() {
        let bytes = Array("{\"a\":1}\n{\"a\":x}\n".utf8)
        var document = JSONDocument()
        #expect(throws: JSONError(pointer: "/a", offset: 5, message: "expected a value")) {
            try document.parse(bytes, 8..<15)
        }
    }

    @Test func `the value that a text begins with is read without what follows it`() throws {
        let bytes = Array("[ {\"a\":[1]} , 12,x]".utf8)
        var document = JSONDocument()
        #expect(try document.parse(firstOf: bytes, 1..<bytes.count) == 11)
        #expect(document.kind(document.root) == .object)
        #expect(try document.parse(firstOf: bytes, 13..<bytes.count) == 16)
        #expect(document.integer(document.root) == 12)
        #expect(throws: JSONError(pointer: "", offset: 0, message: "expected a value")) {
            try document.parse(firstOf: bytes, 17..<bytes.count)
        }
        #expect(throws: JSONError(pointer: "/a", offset: 6, message: "unexpected end")) {
            try document.parse(firstOf: bytes, 2..<8)
        }
    }

    @Test func `reading stops at the end of its range`() throws {
        let bytes = Array("[12345678901234567890,\"abcdefghijklmnop\"] ".utf8)
        for end in 0..<bytes.count - 1 {
            var document = JSONDocument()
            #expect(throws: JSONError.self) { try document.parse(bytes, 0..<end) }
        }
        var document = JSONDocument()
        try document.parse(bytes, 1..<4)
        #expect(document.integer(document.root) == 123)
        #expect(throws: JSONError(pointer: "", offset: 5, message: "unexpected end")) {
            try document.parse(bytes, 22..<27)
        }
    }
}
