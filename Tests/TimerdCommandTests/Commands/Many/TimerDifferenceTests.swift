import Foundation
import TestSupport
import Testing

@testable import TimerdCommand

struct TimerDifferenceTests {
    private func declared(_ json: String) throws -> DeclaredTimer {
        let directory = try TemporaryDirectory()
        try directory.write("timers", Data(json.utf8))
        return try #require(try DeclarationFile(reading: directory.file("timers")).timers.first)
    }

    private func changing(_ json: String, _ stored: String, _ pointers: String...) throws -> TimerDifference {
        TimerDifference(changing: try declared(json), from: try #require(JSONObject(Array(stored.utf8))), pointers)
    }

    private static let secret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"

    @Test func `what is created has all that the file says, but for what is read-only`() throws {
        let difference = TimerDifference(
            creating: try declared(#"{"id":"tea","every":"1h","state":"running","payload":[1,{"a":null}]}"#))
        #expect(difference.text == "+ tea\n    + every: \"1h\"\n    + payload: [1,{\"a\":null}]")
        #expect(
            String(decoding: difference.json, as: UTF8.self)
                == #"{"action":"create","id":"tea","fields":[{"field":"every","old":null,"new":"1h"},"#
                + #"{"field":"payload","old":null,"new":[1,{"a":null}]}]}"# + "\n")
    }

    @Test func `what changes has old and new values, labels one by one`() throws {
        let difference = try changing(
            #"{"id":"tea","every":"2h","labels":{"app":"x","team":"blue"}}"#,
            #"{"id":"tea","every":"1h","labels":{"app":"x","tier":"a"},"payload":[1]}"#,
            "/every", "/labels/tier", "/labels/team", "/payload")
        #expect(
            difference.text == """
                ~ tea
                    - every: "1h"
                    + every: "2h"
                    + labels.team: "blue"
                    - labels.tier: "a"
                    - payload: [1]
                """)
    }

    @Test(arguments: [
        (
            #""webhook":{"url":"http://b/"}"#,
            "~ tea\n    - webhook.url: \"http://a/\"\n    + webhook.url: \"http://b/\""
        ),
        (#""webhook":"http://b/""#, "~ tea\n    - webhook.url: \"http://a/\"\n    + webhook.url: \"http://b/\""),
        (#""every":"1h""#, "~ tea\n    - webhook: {\"url\":\"http://a/\",\"method\":\"POST\"}"),
    ])
    func `a webhook is compared member by member`(member: String, text: String) throws {
        let stored = #"{"id":"tea","every":"1h","webhook":{"url":"http://a/","method":"POST"}}"#
        #expect(try changing(#"{"id":"tea",\#(member)}"#, stored, "/webhook/url").text == text)
    }

    @Test func `a secret is masked`() throws {
        let webhook =
            #""webhook":{"url":"http://b/","secret":"\#(Self.secret)","headers":{"Authorization":"Bearer hidden"}}"#
        let json = #"{"id":"tea","after":"1h",\#(webhook)}"#
        let stored =
            #"{"id":"tea","webhook":{"url":"http://a/","secret":"whsec_***","headers":{"Authorization":"***"}}}"#
        let differences = [
            TimerDifference(creating: try declared(json)), try changing(json, stored, "/webhook/url"),
            try changing(json, #"{"id":"tea","webhook":null}"#, "/webhook"),
        ]
        for difference in differences {
            for text in [difference.text, String(decoding: difference.json, as: UTF8.self)] {
                #expect(text.contains("***") && text.contains("http://b/"))
                #expect(!text.contains(Self.secret) && !text.contains("hidden"))
            }
        }
    }

    @Test func `what is deleted is its id`() {
        #expect(TimerDifference(deleting: "tea").text == "- tea")
        let json = String(decoding: TimerDifference(deleting: "tea").json, as: UTF8.self)
        #expect(json == #"{"action":"delete","id":"tea","fields":[]}"# + "\n")
    }

    @Test func `a control character is shown as a space`() throws {
        let difference = TimerDifference(creating: try declared("{\"id\":\"tea\",\"payload\":\"a\u{202e}b\"}"))
        #expect(difference.text == "+ tea\n    + payload: \"a b\"")
    }

    @Test(arguments: [
        (false, 0, "2 created, 1 changed, 3 unchanged"), (true, 0, "2 to create, 1 to change, 3 unchanged"),
        (false, 4, "2 created, 1 changed, 4 deleted, 3 unchanged"),
        (true, 4, "2 to create, 1 to change, 4 to delete, 3 unchanged"),
    ])
    func `counts are a line`(isDryRun: Bool, deleted: Int, text: String) {
        var counts = Apply.Counts()
        (counts.created, counts.changed, counts.deleted, counts.unchanged) = (2, 1, deleted, 3)
        #expect(counts.text(isDryRun: isDryRun) == text)
        #expect(
            String(decoding: counts.json, as: UTF8.self)
                == #"{"created":2,"changed":1,"deleted":\#(deleted),"unchanged":3}"# + "\n")
    }
}
