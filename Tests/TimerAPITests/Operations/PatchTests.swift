import TestSupport
import Testing
import TimerCore
import TimerService

@testable import TimerAPI

/// PATCH /v1/timers/{id}.
@Suite(.serialized) struct PatchTests {
    private let server: WholeServer

    init() throws {
        var engine = EngineConfiguration()
        engine.zones = SystemZones()
        server = try WholeServer(engine: engine)
    }

    private func patch(_ body: String, of id: String = "t", headers: String = "") throws -> RawClient.Answer {
        try server.ask("PATCH", "/v1/timers/\(id)", body, headers: headers)
    }

    @Test func `members are merged, and null gives the default back`() throws {
        try server.make(
            #"{"id":"t","after":"1h","retain":"2d","maxFires":3,"labels":{"a":"1","b":"2"},"onResume":"skip","#
                + #""payload":{"a":1,"b":{"c":2,"d":3}},"restartable":true,"leeway":"2s","misfire":"all","#
                + #""misfireGrace":"1h","jitter":"1m"}"#)
        let merged = try patch(#"{"labels":{"b":null,"c":"3"},"payload":{"b":{"c":null},"e":4}}"#)
        #expect(merged["labels"] == #"{"a":"1","c":"3"}"#)
        #expect(merged["payload"] == #"{"a":1,"b":{"d":3},"e":4}"#)
        #expect(merged.header("etag") == "\"v2\"" && merged["version"] == "2")
        #expect(try patch(#"{"payload":[1,null]}"#)["payload"] == "[1,null]")
        let fields = [
            "retain": "1d", "maxFires": "null", "labels": "{}", "payload": "null", "onResume": "remaining",
            "restartable": "false", "leeway": "0s", "misfire": "once", "misfireGrace": "null", "jitter": "0s",
        ]
        let bare = try patch("{\(fields.keys.map { "\"\($0)\":null" }.joined(separator: ","))}")
        for (field, value) in fields { #expect(bare[field] == value, "\(field)") }
        #expect(try server.types("t") == ["created", "activated", "updated", "updated", "updated"])
    }

    @Test(arguments: TimerState.allCases)
    func `a schedule changes until the timer has ended, other fields always`(state: TimerState) throws {
        let before = try server.make("t", in: state)
        let labelled = try patch(#"{"labels":{"new":"x"},"retain":"2d"}"#)
        #expect(labelled.status == 200 && labelled["state"] == "\(state.name)" && labelled["retain"] == "2d")
        #expect(labelled["nextFireAt"] == before["nextFireAt"])
        #expect(try server.types("t").last == "updated")
        let head = server.head
        let moved = try patch(#"{"after":"2h","labels":{"newer":"y"}}"#)
        if state.hasEnded {
            #expect(moved.verdict == "409 illegal-transition" && moved["state"] == "\(state.name)")
            #expect(server.head == head)
        } else {
            #expect(moved["state"] == "\(state.name)" && moved["after"] == "2h")
            #expect(moved["labels"] == #"{"new":"x","newer":"y"}"#)
            #expect(moved["remaining"] == (state == .idle ? "null" : "2h"))
            #expect(try server.types("t").last == (state == .idle ? "updated" : "rescheduled"))
        }
    }

    @Test func `what changes nothing keeps the version and makes no event`() throws {
        try server.make(#"{"id":"t","after":"1h","labels":{"a":"1"}}"#)
        let head = server.head
        for body in [
            "{}", #"{"after":"60m"}"#, #"{"labels":{"a":"1"}}"#, #"{"labels":{"gone":null}}"#, #"{"maxFires":null}"#,
            #"{"state":"cancelled","version":0}"#, #"{"id":"t","start":"now","clock":"continuous"}"#,
        ] {
            let answer = try patch(body)
            #expect(answer.status == 200 && answer.header("etag") == "\"v1\"", "\(body): \(answer.text)")
        }
        #expect(server.head == head)
    }

    @Test func `one member that can't be refuses the whole`() throws {
        try server.make("t", in: .running)
        let head = server.head
        for (members, verdict) in [
            (#""id":"other""#, "400 invalid-request /id"), (#""start":"manual""#, "400 invalid-request /start"),
            (#""colour":1"#, "400 unknown-field /colour"), (#""untill":null"#, "400 unknown-field /untill"),
            (#""retain":"x""#, "400 invalid-schedule /retain"), (#""mode":"fixedDelay""#, "400 invalid-schedule /mode"),
            (#""cron":"* * * * *""#, "400 invalid-schedule /cron"),
            (#""maxFires":"x""#, "400 invalid-request /maxFires"),
            (#""at":"2099-01-01T00:00:00Z""#, "400 invalid-schedule /at"),
            (#""until":"2001-01-01T00:00:00Z""#, "400 invalid-schedule /until"),
        ] {
            let answer = try patch(#"{"labels":{"good":"x"},"after":"2h",\#(members)}"#)
            #expect(answer.verdict == verdict, "\(members): \(answer.text)")
        }
        #expect(try patch(#"{"labels":{"a b":"x"}}"#).verdict == "400 invalid-request /labels/a b")
        for body in ["[]", "null", "5", #""x""#, "{"] {
            #expect(try patch(body).verdict == "400 invalid-request the body", "\(body)")
        }
        #expect(try patch("").verdict == "400 invalid-request")
        #expect(try patch(#"{"retain":"2d"}"#, of: "none").verdict == "404 not-found")
        #expect(server.head == head)
    }

    @Test func `If-Match is judged against the version`() throws {
        try server.make("t", in: .running)
        #expect(try patch(#"{"retain":"2d"}"#, headers: "If-Match: \"v1\"\r\n").status == 200)
        let late = try patch(#"{"retain":"3d"}"#, headers: "If-Match: \"v1\"\r\n")
        #expect(late.verdict == "412 version-mismatch" && late["timer"] == "t")
        #expect(try server.timer("t")["retain"] == "2d")
        #expect(try patch(#"{"retain":"3d"}"#, headers: "If-Match: *\r\n").status == 200)
    }

    @Test func `a change of kind takes along what only the old one used`() throws {
        let from = #""from":"2035-01-01T00:00:00Z""#
        try server.make(#"{"id":"t","cron":"0 9 * * *","timeZone":"Asia/Tokyo","misfire":"all",\#(from)}"#)
        #expect(try patch(#"{"every":"1h"}"#).verdict == "400 invalid-schedule /cron")
        let every = try patch(#"{"cron":null,"every":"1h"}"#)
        #expect(every["kind"] == "repeating" && every["clock"] == "continuous" && every["mode"] == "fixedRate")
        #expect(every["timeZone"] == nil && every["from"] == nil && every["cron"] == nil && every["misfire"] == "all")
        let dog = try patch(#"{"every":null,"misfire":null,"watchdog":"1h","misses":2,"repeatAlarm":true}"#)
        #expect(dog["kind"] == "watchdog" && dog["misses"] == "2" && dog["health"] == "ok")
        let nightly = try patch(#"{"cron":"0 3 * * *","from":"2035-03-24T12:00:00Z"}"#)
        #expect(nightly["kind"] == "watchdog" && nightly["nextFireAt"] == "2035-03-26T04:00:00.000Z")
        let plain = try patch(#"{"cron":null}"#)
        #expect(plain["kind"] == "watchdog" && plain["misses"] == "2" && plain["timeZone"] == nil)
        #expect(try patch(#"{"cron":"0 3 * * *","watchdog":null}"#)["kind"] == "cron")
        let once = try patch(#"{"cron":null,"after":"1h"}"#)
        #expect(once["kind"] == "oneShot" && once["misses"] == nil && once["health"] == nil)
    }

    @Test func `a change of time zone plans again, another spelling keeps the planned fire`() throws {
        try server.make(#"{"id":"t","cron":"0 0 * * *"}"#)
        let daily = try patch(#"{"cron":"@daily"}"#)
        #expect(daily["cron"] == "@daily" && daily["nextFireAt"] == "2023-11-15T00:00:00.000Z")
        #expect(try server.types("t").last == "updated")
        let moved = try patch(#"{"timeZone":"Asia/Tokyo"}"#)
        #expect(moved["timeZone"] == "Asia/Tokyo" && moved["nextFireAt"] == "2023-11-15T15:00:00.000Z")
        #expect(try server.types("t").last == "rescheduled")
    }
}
