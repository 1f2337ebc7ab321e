import Foundation
import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// PUT /v1/timers/{id}?apply=true. Which definitions differ is for `DeclarationTests`.
@Suite(.serialized) struct TimerApplyTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    private func apply(
        _ body: String, as id: String = "t", query: String = "", headers: String = ""
    ) throws -> RawClient.Answer {
        try server.ask("PUT", "/v1/timers/\(id)?apply=true\(query)", body, headers: headers)
    }

    @Test func `a timer is created, and then left alone`() throws {
        let made = try apply(#"{"every":"1h","labels":{"team":"blue"}}"#)
        #expect(made.status == 201 && made.header("location") == "/v1/timers/t" && made.header("etag") == "\"v1\"")
        let head = server.head
        for body in [#"{"every":"60m","labels":{"team":"blue"},"start":"now","payload":null}"#, made.text] {
            let again = try apply(body)
            #expect(again.status == 200 && again.text == made.text && again.header("etag") == "\"v1\"")
        }
        #expect(server.head == head)
    }

    @Test func `a timer in any state is left alone by what it shows`() throws {
        for state in TimerState.allCases {
            let timer = try server.make("\(state.name)", in: state)
            #expect(try apply("\(timer)", as: "\(state.name)").text == "\(timer)", "\(state.name)")
        }
    }

    @Test func `what differs is changed, and a suspended timer stays suspended`() throws {
        _ = try apply(#"{"every":"1h","labels":{"team":"blue"},"payload":1}"#)
        try server.command("t", "suspend")
        let after = try apply(#"{"every":"2h","labels":{"shift":"late"}}"#)
        #expect(after["state"] == "suspended" && after["every"] == "2h" && after["payload"] == "null")
        #expect(after["labels"] == #"{"shift":"late"}"#)
        #expect(try server.types("t").last == "rescheduled")
        #expect(try apply(#"{"watchdog":"1h"}"#)["state"] == "suspended")
    }

    @Test func `an ended timer keeps its end until its schedule changes`() throws {
        try server.make("t", in: .completed)
        let labelled = try apply(#"{"after":"1h","labels":{"a":"b"}}"#)
        #expect(labelled["state"] == "completed" && labelled["labels"] == #"{"a":"b"}"#)
        let again = try apply(#"{"after":"2h"}"#)
        #expect(again["state"] == "running" && again["fireCount"] == "1")
    }

    @Test func `conditions are judged first`() throws {
        let body = #"{"every":"1h"}"#
        for (header, verdict) in [
            ("If-Match: \"v1\"", "412 version-mismatch"), ("If-None-Match: *", "201"),
            ("If-None-Match: *", "412 version-mismatch"), ("If-Match: \"v0\"", "412 version-mismatch"),
            ("If-Match: \"v1\"", "200"),
        ] {
            #expect(try apply(body, headers: header + "\r\n").verdict == verdict, "\(header)")
            guard verdict.hasPrefix("412") else { continue }
            #expect(try apply(body, query: "&dryRun=true", headers: header + "\r\n").verdict == verdict, "\(header)")
        }
    }

    @Test func `a dry run names what differs, and changes nothing`() throws {
        let body = #"{"every":"1h","labels":{"team":"blue"}}"#
        var head = server.head
        #expect(try apply(body, query: "&dryRun=true").text == #"{"differs":[""]}"#)
        #expect(server.head == head)
        #expect(try apply(body, query: "&dryRun=false").status == 201)
        head = server.head
        #expect(try apply(body, query: "&dryRun=true").text == #"{"differs":[]}"#)
        let other = try apply(#"{"every":"2h","labels":{},"payload":[1]}"#, query: "&dryRun=true")
        #expect(other.text == #"{"differs":["/every","/labels","/payload"]}"#)
        #expect(server.head == head)
    }

    @Test func `a parameter that can't be is named`() throws {
        let head = server.head
        for (query, name) in [
            ("dryRun=true", "dryRun"), ("apply=false&dryRun=true", "dryRun"), ("apply=yes", "apply"),
            ("apply=", "apply"),
            ("apply=true&apply=true", "apply"), ("apply=true&dryRun=maybe", "dryRun"),
        ] {
            let answer = try server.ask("PUT", "/v1/timers/t?\(query)", #"{"every":"1h"}"#)
            #expect(answer.verdict == "400 invalid-request ?\(name)", "\(query)")
        }
        #expect(server.head == head)
        #expect(try server.ask("PUT", "/v1/timers/t?apply=false", #"{"every":"1h"}"#)["version"] == "1")
        #expect(try server.ask("PUT", "/v1/timers/t?apply=false", #"{"every":"1h"}"#)["version"] == "2")
    }

    @Test func `a masked secret means what is stored, at the same origin`() throws {
        let secret = "whsec_" + Data([UInt8](repeating: 7, count: 32)).base64EncodedString()
        let made = try apply(
            #"{"every":"1h","webhook":{"url":"https://hooks.example/t","secret":"\#(secret)","#
                + #""headers":{"Authorization":"Bearer x"}}}"#)
        try #require(made.status == 201 && !made.text.contains(secret), "\(made.text)")
        #expect(try apply(made.text).text == made.text)
        let elsewhere = made.text.replacing("https://hooks.example/", with: "https://elsewhere.example/")
        #expect(try apply(elsewhere).status == 400)
        #expect(try server.timer("t")["version"] == "1")
    }
}
