import Testing
import WireJSON

@testable import TimerdCommand

struct PrettyJSONTests {
    @Test(arguments: [
        ("1.50", "1.50"), ("\"\\u00e9\"", "\"\\u00e9\""), ("{ }", "{}"), ("[ ]", "[]"), ("null", "null"),
        ("[1,[]]", "[\n    1,\n    []\n  ]"),
        (
            "{\"a\":{\"b\":[true]},\"c\":\"d\"}",
            "{\n    \"a\": {\n      \"b\": [\n        true\n      ]\n    },\n    \"c\": \"d\"\n  }"
        ),
    ])
    func `a value is indented, and numbers and strings keep their spelling`(text: String, pretty: String) throws {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        var output: [UInt8] = []
        PrettyJSON.append(document, document.root, indent: 2, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == pretty)
    }
}
