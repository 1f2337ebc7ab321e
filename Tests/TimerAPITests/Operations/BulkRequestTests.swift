import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// POST /v1/timers/bulk/{action}.
@Suite(.serialized) struct BulkRequestTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    private func bulk(_ action: String, _ body: String, _ query: String = "") throws -> RawClient.Answer {
        try server.ask("POST", "/v1/timers/bulk/\(action)\(query)", body)
    }

    /// A timer in each state, all under one label.
    private func makeAll(_ label: String) throws {
        for state in TimerState.allCases {
            try server.make("\(label)-\(state.name)", in: state, #""labels":{"k":"\#(label)"}"#)
        }
    }

    private static func counts(_ matched: Int, _ changed: Int) -> String {
        #"{"matched":\#(matched),"changed":\#(changed),"skipped":\#(matched - changed)}"#
    }

    /// Makes a dry run, which must change nothing, and then the run, whose answer must be the same. Returns the
    /// answers' text.
    private func run(_ action: String, _ body: String) throws -> String {
        let head = server.head
        let dry = try bulk(action, body, "?dryRun=true").text
        #expect(server.head == head)
        #expect(try bulk(action, body).text == dry)
        return dry
    }

    @Test func `each timer is changed where that is legal, else skipped`() throws {
        for (command, target) in [
            (TimerCommand.suspend, TimerState.suspended), (.resume, .running), (.cancel, .cancelled),
            (.activate, .running), (.fire, .completed),
        ] {
            let name = command.name.description
            try makeAll(name)
            let legal = TimerState.allCases.filter {
                TimerMachine.allows(command, in: $0, restartable: false, isWatchdog: false)
            }
            #expect(try run(name, #"{"labels":{"k":"\#(name)"}}"#) == Self.counts(5, legal.count))
            for state in TimerState.allCases {
                let after = try server.timer("\(name)-\(state.name)")["state"]
                #expect(after == (legal.contains(state) ? target : state).name.description, "\(name) \(state.name)")
            }
        }
        let fired = try server.events("fire-running").first { $0["type"] == "fired" }
        #expect(fired?["reason"] == "manual")
    }

    @Test func `all are deleted, and there may be none`() throws {
        try makeAll("a")
        let body = #"{"labels":{"k":"a"}}"#
        #expect(try run("delete", body) == Self.counts(5, 5))
        #expect(try server.ask("GET", "/v1/timers")["timers"] == "[]")
        #expect(try run("cancel", body) == Self.counts(0, 0))
    }

    @Test func `all labels and one of the states must match`() throws {
        try makeAll("a")
        try server.make(#"{"id":"gold","after":"1h","labels":{"k":"b","tier":"gold"}}"#)
        try server.make(#"{"id":"plain","after":"1h","labels":{"k":"b"}}"#)
        #expect(try run("suspend", #"{"labels":{"k":"a"},"states":["idle","running"]}"#) == Self.counts(2, 1))
        #expect(try run("cancel", #"{"labels":{"k":"b","tier":"gold"}}"#) == Self.counts(1, 1))
        #expect(try server.timer("plain")["state"] == "running")
        #expect(try run("cancel", #"{"states":["idle"]}"#) == Self.counts(1, 0))
    }

    @Test func `watchdogs alone are kicked`() throws {
        try makeAll("a")
        for state in ["running", "suspended", "cancelled"] {
            try server.make(#"{"id":"\#(state)","watchdog":"1h","labels":{"k":"a"}}"#)
        }
        try server.command("suspended", "suspend")
        try server.command("cancelled", "cancel")
        // A kick of a suspended one is legal and changes nothing.
        #expect(try run("kick", #"{"labels":{"k":"a"}}"#) == Self.counts(8, 1))
        #expect(try server.timer("running")["kickCount"] == "1")
    }

    @Test func `a reschedule moves running and suspended timers, unless their end comes before`() throws {
        try makeAll("a")
        let selector = #""labels":{"k":"a"},"states":["running","suspended","cancelled"]"#
        #expect(try run("reschedule", #"{\#(selector),"after":"2h"}"#) == Self.counts(3, 2))
        #expect(try server.timer("a-suspended")["remaining"] == "2h")
        #expect(try run("reschedule", #"{\#(selector),"at":"2040-01-02T03:04:05.000Z"}"#) == Self.counts(3, 2))
        #expect(try server.timer("a-running")["nextFireAt"] == "2040-01-02T03:04:05.000Z")
        try server.make(#"{"after":"1h","until":"2039-01-01T00:00:00Z","labels":{"k":"b"}}"#)
        let late = #"{"labels":{"k":"b"},"at":"2040-01-02T03:04:05.000Z"}"#
        #expect(try run("reschedule", late) == Self.counts(1, 0))
    }

    @Test func `more timers than one step takes are all changed once`() throws {
        let lines = String(repeating: "{\"after\":\"1h\",\"labels\":{\"k\":\"a\"}}\n", count: 1500)
        _ = try server.ask("POST", "/v1/timers/batch?results=brief", lines, type: "application/x-ndjson")
        #expect(try run("suspend", #"{"labels":{"k":"a"}}"#) == Self.counts(1500, 1500))
        let events = try server.ask("GET", "/v1/events?follow=false&types=suspended").lines
        #expect(events.count == 1500 && Set(events.compactMap { $0["timer"] }).count == 1500)
    }

    @Test func `what is no selector or no action changes nothing`() throws {
        try server.make(#"{"after":"1h","labels":{"a":"1"}}"#)
        let head = server.head
        for (action, body, verdict) in [
            ("suspend", "{}", "400 invalid-request"), ("suspend", #"{"labels":{}}"#, "400 invalid-request"),
            ("suspend", #"{"states":[]}"#, "400 invalid-request"),
            ("suspend", #"{"labels":null}"#, "400 invalid-request"),
            ("suspend", #"{"states":["asleep"]}"#, "400 invalid-request /states/0"),
            ("suspend", #"{"states":[null]}"#, "400 invalid-request /states/0"),
            ("suspend", #"{"states":"idle"}"#, "400 invalid-request /states"),
            ("suspend", #"{"labels":{"a":1}}"#, "400 invalid-request /labels/a"),
            ("suspend", #"{"colour":1}"#, "400 unknown-field /colour"),
            ("suspend", "[]", "400 invalid-request the body"),
            ("suspend", "null", "400 invalid-request the body"), ("suspend", "", "400 invalid-request"),
            ("reschedule", #"{"after":"1h"}"#, "400 invalid-request"),
            ("reschedule", #"{"labels":{"a":"1"}}"#, "400 invalid-request the body"),
            (
                "reschedule", #"{"labels":{"a":"1"},"after":"1h","at":"2040-01-01T00:00:00Z"}"#,
                "400 invalid-request the body"
            ),
            ("reschedule", #"{"labels":{"a":"1"},"after":"soon"}"#, "400 invalid-schedule /after"),
            ("reschedule", #"{"labels":{"a":"1"},"after":"1h","every":"1h"}"#, "400 unknown-field /every"),
            ("fire", #"{"labels":{"a":"1"},"after":"1h"}"#, "400 unknown-field /after"),
            ("delete", #"{"labels":{"a":"1"},"at":"2040-01-01T00:00:00Z"}"#, "400 unknown-field /at"),
            ("cancel?dryRun=maybe", #"{"labels":{"a":"1"}}"#, "400 invalid-request ?dryRun"),
            ("explode", #"{"labels":{"a":"1"}}"#, "404 not-found"),
        ] {
            let answer = try bulk(action, body)
            #expect(answer.verdict == verdict, "\(action) \(body): \(answer.text)")
            guard action == "explode" else { continue }
            for name in ["suspend", "kick", "fire", "reschedule", "delete"] {
                #expect(answer["detail"]?.contains(name) ?? false)
            }
        }
        #expect(server.head == head)
    }
}
