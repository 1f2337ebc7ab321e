import TestSupport
import Testing

/// The fields `start` and `stop` of a timer that runs for its subscribers.
struct SubscriberFieldTests {
    private static let watched = #"{"after":"1h","start":"subscriber","stop":"subscriber"}"#

    @Test(arguments: [
        #""stop":"subscriber""#, #""stop":"subscriber","start":"now""#, #""stop":"subscriber","start":"manual""#,
        #""stop":"never","start":"subscriber""#, #""stop":true,"start":"subscriber""#,
    ])
    func `stop goes with the start of the same name alone`(fields: String) throws {
        let server = try WholeServer()
        for (method, target) in [("POST", "/v1/timers"), ("PUT", "/v1/timers/t")] {
            let answer = try server.ask(method, target, #"{"after":"1h",\#(fields)}"#)
            #expect(answer.status == 400)
            #expect(answer["pointer"] == "/stop")
        }
        #expect(try server.ask("GET", "/v1/timers/t").status == 404)
    }

    @Test func `no patch changes how a timer starts and stops`() throws {
        let server = try WholeServer()
        try #require(try server.ask("PUT", "/v1/timers/t", Self.watched).status == 201)
        let patches = [
            #"{"stop":null}"#, #"{"stop":"subscriber"}"#, #"{"stop":"x"}"#, #"{"start":"now","stop":null}"#,
        ]
        for patch in patches {
            let answer = try server.ask("PATCH", "/v1/timers/t", patch)
            #expect(answer.status == 400, "\(patch)")
            #expect(["/stop", "/start"].contains(answer["pointer"]), "\(patch)")
        }
        let labelled = try server.ask("PATCH", "/v1/timers/t", #"{"labels":{"a":"b"}}"#)
        #expect(labelled["stop"] == "subscriber")
        try #require(try server.ask("PUT", "/v1/timers/u", #"{"after":"1h","start":"subscriber"}"#).status == 201)
        #expect(try server.ask("PATCH", "/v1/timers/u", #"{"stop":"subscriber"}"#).status == 400)
        let before = try server.ask("GET", "/v1/timers/u").header("etag")
        #expect(try server.ask("PATCH", "/v1/timers/u", #"{"stop":null}"#).header("etag") == before)
    }

    @Test func `what is shown can be put back`() throws {
        let server = try WholeServer()
        let shown = try server.ask("PUT", "/v1/timers/t", Self.watched)
        #expect(shown.text.contains(#""stop":"subscriber""#))
        let again = try server.ask("PUT", "/v1/timers/t", shown.text)
        #expect(again.status == 200)
        #expect(again["start"] == "subscriber" && again["stop"] == "subscriber")
        #expect(again["state"] == "idle")
        for body in [#"{"after":"1h","stop":null}"#, #"{"after":"1h","start":"subscriber"}"#] {
            #expect(try server.ask("POST", "/v1/timers", body).text.contains(#""stop":null"#))
        }
    }
}
