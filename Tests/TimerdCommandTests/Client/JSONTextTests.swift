import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct JSONTextTests {
    private func read(_ text: String) throws -> String {
        String(decoding: try JSONText.read(text, flag: "--body"), as: UTF8.self)
    }

    @Test func `JSON is itself or in a file, without white space between its tokens`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("body.json", Data("{\n  \"after\": \"1 h\",\n  \"payload\": [ 1.50, null ]\n}\n".utf8))
        #expect(try read("@" + directory.file("body.json")) == #"{"after":"1 h","payload":[1.50,null]}"#)
        #expect(try read(" [ ] ") == "[]")
    }

    @Test(arguments: [
        ("@/nowhere/none", "can't read /nowhere/none: No such file"), ("@/tmp", "can't read /tmp: Is a directory"),
        ("@/dev/zero", "/dev/zero is over \(JSONText.limit) bytes"), ("{", "--body is not JSON: "),
        ("@/dev/null", "--body @/dev/null is not JSON: "), ("", "--body is not JSON: "),
    ])
    func `what can't be read, is none or is too long is refused`(text: String, words: String) {
        let failure = #expect(throws: Failure.self) { try read(text) }
        #expect(failure?.code == .usage)
        #expect(failure?.line.hasPrefix(words) == true)
    }
}
