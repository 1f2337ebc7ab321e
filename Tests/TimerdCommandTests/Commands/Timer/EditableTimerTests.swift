import Testing

@testable import TimerdCommand

struct EditableTimerTests {
    private func timer(_ json: String) throws -> EditableTimer { try EditableTimer(edited: Array(json.utf8)) }

    private func patch(_ before: String, _ after: String) throws -> String? {
        try timer(before).patch(to: timer(after)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `an editor gets what can be changed, a line a field`() throws {
        let shown =
            #"{"id":"tea","state":"running","start":"now","version":3,"after":"1h","labels":{"a":"b"},"payload":1.50}"#
        let timer = try #require(EditableTimer(Array(shown.utf8)))
        #expect(
            String(decoding: timer.text, as: UTF8.self) == """
                {
                  "after": "1h",
                  "labels": {
                    "a": "b"
                  },
                  "payload": 1.50
                }

                """)
        #expect(String(decoding: try self.timer("{}").text, as: UTF8.self) == "{}\n")
    }

    @Test(
        arguments: [
            (#"{"after":"1h"}"#, #"{ "after" : "1h" }"#, nil),
            (#"{"after":"1h","maxFires":null}"#, #"{"after":"1h"}"#, nil),
            (#"{"after":"1h"}"#, #"{"after":"2h"}"#, #"{"after":"2h"}"#),
            (#"{"after":"1h","payload":7}"#, #"{"every":"3h"}"#, #"{"every":"3h","after":null,"payload":null}"#),
            (
                #"{"labels":{"a":"b","gone":"x"}}"#, #"{"labels":{"a":"c","new":"é"}}"#,
                #"{"labels":{"a":"c","new":"é","gone":null}}"#
            ),
            (
                #"{"payload":{"n":1.50,"list":[1,null],"same":{"x":null}}}"#,
                #"{"payload":{"list":[null],"same":{"x":null}}}"#,
                #"{"payload":{"list":[null],"n":null}}"#
            ),
            (#"{"payload":{"a":1}}"#, #"{"payload":[{"a":null}]}"#, #"{"payload":[{"a":null}]}"#),
            (#"{"payload":[1]}"#, #"{"payload":{"a":{"b":1}}}"#, #"{"payload":{"a":{"b":1}}}"#),
            (#"{"payload":{"a":{"b":1,"c":2}}}"#, #"{"payload":{"a":{"b":1}}}"#, #"{"payload":{"a":{"c":null}}}"#),
            (#"{"maxFires":3}"#, #"{"maxFires":null}"#, #"{"maxFires":null}"#),
        ] as [(String, String, String?)])
    func `the patch has what changed`(before: String, after: String, patch: String?) throws {
        #expect(try self.patch(before, after) == patch)
    }

    @Test(arguments: [
        ("{\"payload\":{\"a\":1}}", "{\"payload\":{\"a\":null}}"), ("{}", "{\"payload\":{\"a\":{\"b\":null}}}"),
    ])
    func `no patch puts a null into a payload`(before: String, after: String) {
        let failure = #expect(throws: Failure.self) { try patch(before, after) }
        #expect(failure?.code == .usage)
        #expect(failure?.line == "a patch can't put a null into a payload: PUT the timer instead")
    }

    @Test(arguments: [("{", "not JSON: "), ("", "not JSON: "), ("[]", "not a JSON object"), ("1", "not a JSON object")])
    func `what was made of it must be an object`(text: String, words: String) {
        let failure = #expect(throws: Failure.self) { try timer(text) }
        #expect(failure?.code == .usage)
        #expect(failure?.line.hasPrefix(words) == true)
        #expect(EditableTimer(Array(text.utf8)) == nil)
    }
}
