import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// GET /v1/timers/{id}, its next fires, and the preview.
@Suite(.serialized) struct ReadTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    private func fires(_ answer: RawClient.Answer) -> [String] {
        answer.elements("fires").compactMap { $0[""] }
    }

    private func preview(_ body: String, _ query: String = "") throws -> RawClient.Answer {
        try server.ask("POST", "/v1/schedules/preview" + query, body)
    }

    @Test func `a timer in each state shows what is planned and what is left`() throws {
        for state in TimerState.allCases {
            let timer = try server.make(state.name.description, in: state)
            #expect((timer["nextFireAt"] == "null") == (state != .running), "\(state.name)")
            let isLeft = state == .running || state == .suspended
            #expect(timer["remaining"] == (isLeft ? "1h" : "null"), "\(state.name)")
            #expect(timer["fireCount"] == (state == .completed ? "1" : "0"), "\(state.name)")
            #expect((timer["lastFiredAt"] == "null") == (state != .completed), "\(state.name)")
        }
    }

    @Test func `what is left runs down under one version, and stands while suspended`() throws {
        try server.make("t", in: .running)
        server.time.pass(milliseconds: 600_000)
        let later = try server.timer("t")
        #expect(later["remaining"] == "50m" && later["version"] == "1")
        try server.command("t", "suspend")
        server.time.pass(milliseconds: 600_000)
        #expect(try server.timer("t")["remaining"] == "50m")
        let resumed = try server.command("t", "resume")
        #expect(resumed["remaining"] == "50m" && resumed["nextFireAt"] == "2023-11-14T23:23:20.000Z")
    }

    @Test(arguments: [
        #""after":"1h","onResume":"deadline""#, #""after":"1h","onResume":"skip""#, #""cron":"0 0 1 1 *""#,
        #""at":"2099-01-01T00:00:00Z""#,
    ])
    func `a timer that keeps its grid over a pause shows nothing left in it`(schedule: String) throws {
        let timer = try server.make(#"{"id":"t",\#(schedule)}"#)
        let suspended = try server.command("t", "suspend")
        #expect(suspended["remaining"] == "null" && suspended["nextFireAt"] == "null")
        #expect(try server.command("t", "resume")["nextFireAt"] == timer["nextFireAt"])
    }

    @Test func `a schedule is described where that is asked for`() throws {
        let body = #"{"id":"t","cron":"0 9 * * MON-FRI"}"#
        let fires = #"{"fires":["2023-11-15T09:00:00.000Z"]"#
        let words = #","description":"every weekday at 09:00, UTC"}"#
        try server.make(body)
        for (query, rest) in [("", "}"), ("&describe=false", "}"), ("&describe=true", words)] {
            #expect(try preview(body, "?count=1" + query).text == fires + rest)
            #expect(try server.ask("GET", "/v1/timers/t/next?count=1" + query).text == fires + rest)
        }
        for query in ["describe=yes", "describe=", "describe=true&describe=true"] {
            #expect(try preview(body, "?" + query).status == 400)
            #expect(try server.ask("GET", "/v1/timers/t/next?" + query).status == 400)
        }
        try server.command("t", "suspend")
        let suspended = try server.ask("GET", "/v1/timers/t/next?describe=true")
        #expect(suspended.text == #"{"fires":[]"# + words)
    }

    @Test func `the version is the entity tag, and sparing of the body`() throws {
        try server.make("t", in: .suspended)
        for (tag, status) in [
            (#""v2""#, 304), ("*", 304), (#""v0", "v2""#, 304), (#"W/"v2""#, 304), (#""v1""#, 200), ("v2", 200),
        ] {
            let answer = try server.ask("GET", "/v1/timers/t", headers: "If-None-Match: \(tag)\r\n")
            #expect(answer.status == status && answer.header("etag") == #""v2""#, "\(tag)")
            #expect(answer.body.isEmpty == (status == 304), "\(tag)")
            // RFC 9110, 8.6: the length is that of the content which is not sent.
            let content = try server.ask("GET", "/v1/timers/t")
            #expect(answer.header("content-length") == content.header("content-length"), "\(tag)")
        }
    }

    @Test func `304 is followed by the next answer, without the content whose length it says`() throws {
        try server.make("t", in: .suspended)
        let client = RawClient(port: try server.port)
        client.send("GET /v1/timers/t HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\n\r\n")
        client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(client.answer()?.status == 304)
        #expect(client.answer()?.text == #"{"status":"ok"}"#)
    }

    @Test func `the event id is where a stream can begin`() throws {
        try server.make("t", in: .running)
        for path in ["/v1/timers/t", "/v1/timers"] {
            let id = try #require(try server.ask("GET", path).header("event-id"))
            try server.command("t", "suspend")
            let events = try server.ask("GET", "/v1/timers/t/events?follow=false&since=\(id)").lines
            #expect(events.map { $0["type"] } == ["suspended"], "\(path)")
            try server.command("t", "resume")
        }
    }

    @Test func `HEAD is GET without a body`() throws {
        try server.make("t", in: .running)
        for path in ["/v1/timers/t", "/v1/timers", "/v1/timers/t/next", "/v1/deliveries"] {
            let (got, head) = (try server.ask("GET", path), try server.ask("HEAD", path))
            #expect(head.status == 200 && head.body == [], "\(path)")
            for name in ["etag", "content-type", "content-length", "event-id"] {
                #expect(head.header(name) == got.header(name), "\(path): \(name)")
            }
        }
    }

    @Test func `next lists the fires of a running timer, as the preview does`() throws {
        let rows: [(schedule: String, instants: [String])] = [
            (#""every":"1h","maxFires":3"#, ["T23:13:20", "T00:13:20", "T01:13:20"]), (#""after":"1h""#, ["T23:13:20"]),
            (#""cron":"30 22 * * *","maxFires":1"#, ["T22:30:00"]), (#""watchdog":"1s""#, []),
            (
                #""every":"1d","at":"2099-01-01T00:00:00Z","until":"2099-01-03T00:00:00Z""#,
                ["T00:00:00", "T00:00:00", "T00:00:00"]
            ),
        ]
        for (schedule, instants) in rows {
            let foretold = fires(try preview("{\"id\":\"none\",\(schedule)}"))
            #expect(foretold.map { String($0.dropFirst(10).prefix(9)) } == instants, "\(schedule)")
            let timer = try server.make("{\(schedule)}")
            let id = try #require(timer["id"])
            #expect(fires(try server.ask("GET", "/v1/timers/\(id)/next")) == foretold, "\(schedule)")
            let first = try server.ask("GET", "/v1/timers/\(id)/next?count=1")
            #expect(fires(first) == Array(foretold.prefix(1)), "\(schedule)")
        }
        #expect(try server.ask("GET", "/v1/timers/none").verdict == "404 not-found")
        for state in TimerState.allCases where state != .running {
            try server.make("\(state.name)", in: state)
            #expect(try server.ask("GET", "/v1/timers/\(state.name)/next").text == #"{"fires":[]}"#, "\(state.name)")
        }
    }

    @Test func `a preview has ten instants unless told, and a thousand at most`() throws {
        let body = #"{"every":"1s"}"#
        #expect(fires(try preview(body)).count == 10)
        #expect(fires(try preview(body, "?count=1000")).count == 1000)
        for count in ["0", "1001", "x", "-1", ""] {
            #expect(try preview(body, "?count=\(count)").verdict == "400 invalid-request ?count", "\(count)")
        }
        #expect(try preview(#"{"every":"nonsense"}"#).verdict == "400 invalid-schedule /every")
        #expect(try preview("").verdict == "400 invalid-request")
    }
}
