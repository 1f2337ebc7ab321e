import Foundation
import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// POST /v1/timers.
@Suite(.serialized) struct CreateTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    private func create(_ fields: String) throws -> RawClient.Answer { try server.ask("POST", "/v1/timers", fields) }

    @Test func `a timer is answered as it is read, with its place and version`() throws {
        let made = try create(#"{"id":"t","after":"1h"}"#)
        #expect(made.status == 201 && made.header("location") == "/v1/timers/t" && made.header("etag") == "\"v1\"")
        #expect(made.header("content-type") == "application/json")
        let read = try server.ask("GET", "/v1/timers/t")
        #expect(read.status == 200 && read.text == made.text && read.header("etag") == "\"v1\"")
    }

    @Test func `an id is made up as a UUID of version 7`() throws {
        let ids = try (0..<20).map { _ in try #require(try server.make(#"{"after":"1h"}"#)["id"]) }
        #expect(Set(ids).count == 20)
        for id in ids {
            #expect(UUID(uuidString: id)?.uuidString.lowercased() == id && Array(id)[14] == "7")
            #expect(try server.timer(id)["id"] == id)
        }
    }

    @Test func `a manual start is idle`() throws {
        let timer = try server.make(#"{"after":"1h","start":"manual"}"#)
        #expect(timer["state"] == "idle" && timer["nextFireAt"] == "null" && timer["remaining"] == "null")
        #expect(timer["allowed"] == #"["activate"]"#)
    }

    @Test(arguments: TimerState.allCases)
    func `an id is taken as long as its timer can be read`(state: TimerState) throws {
        try server.make("t", in: state)
        let head = server.head
        let again = try create(#"{"id":"t","after":"2h"}"#)
        #expect(again.verdict == "409 timer-exists" && again["timer"] == "t")
        #expect(server.head == head)
    }

    @Test func `a field that is null has its default, and what only a server sets is ignored`() throws {
        let bare = try create(#"{"id":"a","after":"1h"}"#).text.dropFirst(#"{"id":"a""#.count)
        let nulls = [
            "at", "every", "cron", "watchdog", "mode", "maxFires", "until", "labels", "payload", "webhook", "from",
            "timeZone", "calendar", "onClosed", "misfireGrace", "start", "retain",
        ]
        let null = try create(#"{"id":"b","after":"1h",\#(nulls.map { "\"\($0)\":null" }.joined(separator: ","))}"#)
        #expect(null.status == 201 && null.text.hasSuffix(bare), "\(null.text)")
        let readOnly =
            #""state":"cancelled","version":99,"fireCount":5,"allowed":[],"createdAt":"x","kind":"cron","#
            + #""nextFireAt":null,"remaining":"1s","lastFiredAt":null,"missedCount":1,"updatedAt":"x","#
            + #""health":1,"kickCount":"y""#
        let told = try create(#"{"id":"c","after":"1h",\#(readOnly)}"#)
        #expect(told.status == 201 && told.text.hasSuffix(bare), "\(told.text)")
        #expect(try server.make(#"{"id":null,"after":"1h"}"#)["id"]?.utf8.count == 36)
    }

    @Test func `what is given is shown`() throws {
        let given =
            #"{"id":"t","every":"10m","after":"5m","calendar":null,"start":"now","stop":null,"clock":"wall","leeway":"2s","#
            + #""jitter":"1m30s","mode":"fixedDelay","onResume":"deadline","misfire":"all","misfireGrace":"1h","#
            + #""maxFires":7,"until":"2099-06-01T12:00:00.000Z","restartable":true,"retain":"2d","#
            + #""labels":{"a/b.c_d-1":"x","empty":""},"payload":{"n":[1,null,"ü"]},"webhook":null"#
        let made = try create(given + "}")
        #expect(made.status == 201 && made.text.hasPrefix(given + ","), "\(made.text)")
    }

    @Test(arguments: [
        (
            #"{"z": 1.00e+2, "a" : ["\u00e9\/ x", -0.0 ,"# + "\n true], \"é\": {}}",
            #"{"z":1.00e+2,"a":["\u00e9\/ x",-0.0,true],"é":{}}"#
        ),
        ("0", "0"), (#""x""#, #""x""#), ("true", "true"), ("[]", "[]"), ("{}", "{}"),
        ("12345678901234567890.5", "12345678901234567890.5"),
    ])
    func `a payload is any JSON, and is shown without white space`(payload: String, shown: String) throws {
        _ = try create(#"{"id":"t","after":"1h","payload":\#(payload)}"#)
        #expect(try server.ask("GET", "/v1/timers/t").text.contains(#""payload":\#(shown),"#))
    }

    @Test func `a timer that is refused leaves nothing behind`() throws {
        let rows = [
            (#"{"id":"t"}"#, "400 invalid-schedule the body"),
            (#"{"id":"t","after":"x"}"#, "400 invalid-schedule /after"),
            (#"{"id":"t","after":"1h","colour":1}"#, "400 unknown-field /colour"),
            (#"{"id":"t","after":"1h","until":"2001-01-01T00:00:00Z"}"#, "400 invalid-schedule /until"),
            (
                #"{"id":"t","at":"2099-01-01T00:00:00Z","until":"2098-12-31T23:59:59.999Z"}"#,
                "400 invalid-schedule /until"
            ),
            (
                #"{"id":"t","every":"1h","at":"2099-01-01T00:00:00Z","until":"2098-12-31T23:59:59.999Z"}"#,
                "400 invalid-schedule /until"
            ),
            (#"{"id":"t","cron":"@hourly","until":"2001-01-01T00:00:00Z"}"#, "400 invalid-schedule /until"),
            (
                #"{"id":"t","watchdog":"1h","cron":"0 3 * * *","misses":1000000000000}"#,
                "400 invalid-schedule /misses"
            ),
            (#"{"id":"a b","after":"1h"}"#, "400 invalid-request /id"), ("{", "400 invalid-request the body"),
            ("[]", "400 invalid-request the body"), ("", "400 invalid-request"),
        ]
        let head = server.head
        for (body, verdict) in rows {
            let answer = try create(body)
            #expect(answer.verdict == verdict, "\(body): \(answer.text)")
        }
        #expect(server.head == head)
        #expect(try server.ask("GET", "/v1/timers/t").verdict == "404 not-found")
        try server.make(#"{"id":"t","at":"2099-01-01T00:00:00Z","until":"2099-01-01T00:00:00Z"}"#)
    }

    @Test func `a refused timer without an id has no name`() throws {
        let answer = try create(#"{"cron":"0 0 * * *","until":"2020-01-01T00:00:00Z"}"#)
        #expect(answer.verdict == "400 invalid-schedule /until" && answer["timer"] == nil)
    }

    @Test func `a past instant fires at once`() throws {
        try server.make(#"{"id":"t","at":"2001-02-03T04:05:06Z"}"#)
        let fired = try server.ask("GET", "/v1/timers/t/wait?since=0&timeout=60s")
        #expect(fired["type"] == "fired" && fired["scheduledAt"] == "2001-02-03T04:05:06.000Z")
    }
}
