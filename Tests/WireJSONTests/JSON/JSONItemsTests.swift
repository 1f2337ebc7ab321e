import Testing

@testable import WireJSON

struct JSONItemsTests {
    /// The elements of `text` as they are written.
    private func items(_ text: String) throws(JSONError) -> [String]? {
        let bytes = Array(text.utf8)
        guard var items = JSONItems(bytes) else { return nil }
        var found: [String] = []
        while let range = try items.next() { found.append(String(decoding: bytes[range], as: UTF8.self)) }
        return found
    }

    @Test(arguments: [
        ("[]", []), (" [ ] \n", []), ("[1]", ["1"]), ("[ 1 ,\n\t2 ]", ["1", "2"]), ("[{},{}]", ["{}", "{}"]),
        (#"[{"a": [1, {"b": 2}]}, [3, 4]]"#, [#"{"a": [1, {"b": 2}]}"#, "[3, 4]"]),
        (#"["a,b", "]", "\"]", "\\", 5]"#, [#""a,b""#, #""]""#, #""\"]""#, #""\\""#, "5"]),
    ])
    func `an array comes apart at its own commas`(text: String, elements: [String]) throws {
        #expect(try items(text) == elements)
    }

    @Test(arguments: ["", "  ", "{}", "1", "\"[\"", "a[1]"])
    func `what is no array has no elements`(text: String) throws {
        #expect(try items(text) == nil)
    }

    @Test(arguments: [
        ("[", 1), ("[1", 2), ("[1,", 3), ("[1,]", 3), ("[,1]", 1), ("[1,,2]", 3), ("[1] 2", 4), ("[] ]", 3),
        ("[\"a]", 4), ("[{]", 3), (#"["\"#, 3),
    ])
    func `a broken array is refused where it breaks`(text: String, offset: Int) {
        let error = #expect(throws: JSONError.self) { try items(text) }
        #expect(error?.offset == offset)
    }
}
