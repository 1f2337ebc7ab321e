import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// Watchdogs that alarm and recover, as the API shows it.
@Suite(.serialized) struct WatchdogAlarmTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    /// Passes half a second, then waits for a fire after the event `since`. Returns the answer, which is its event.
    private func alarm(_ id: String, since: String = "0") throws -> RawClient.Answer {
        server.time.pass(milliseconds: 500)
        return try server.ask("GET", "/v1/timers/\(id)/wait?since=\(since)&timeout=60s")
    }

    @Test func `silence is shown once, and a kick recovers from it`() throws {
        try server.make(#"{"id":"t","watchdog":"500ms","payload":{"page":"me"}}"#)
        let fired = try alarm("t")
        #expect(fired["reason"] == "stalled" && fired["fire"] == "1" && fired["missed"] == "0")
        #expect(fired["payload"] == #"{"page":"me"}"# && fired["scheduledAt"] == "2023-11-14T22:13:20.500Z")
        let stalled = try server.timer("t")
        #expect(stalled["state"] == "running" && stalled["health"] == "stalled")
        #expect(stalled["nextFireAt"] == "null" && stalled["remaining"] == "null")
        #expect(stalled["allowed"] == WholeServer.allowed(in: .running, isWatchdog: true))
        server.time.pass(milliseconds: 250)
        let kicked = try server.command("t", "kick")
        #expect(kicked["health"] == "ok" && kicked["remaining"] == "500ms" && kicked["kickCount"] == "1")
        #expect(kicked["lastKickedAt"] == "2023-11-14T22:13:20.750Z" && kicked["updatedAt"] == kicked["lastKickedAt"])
        let recovered = try #require(try server.events("t").last)
        #expect(
            recovered.names == ["id", "type", "timer", "at", "version", "labels", "stalledFor", "silentFor"],
            "\(recovered)")
        #expect(recovered["type"] == "recovered" && recovered["version"] == kicked["version"])
        // The watchdog was never kicked before, so it was silent since it started.
        #expect(recovered["stalledFor"] == "250ms" && recovered["silentFor"] == "750ms")
    }

    @Test func `a kick has a version and no event`() throws {
        try server.make(#"{"id":"t","watchdog":"1h"}"#)
        server.time.pass(milliseconds: 500)
        let answer = try server.ask("POST", "/v1/timers/t/kick")
        #expect(answer["kickCount"] == "1" && answer["health"] == "ok" && answer["remaining"] == "1h")
        #expect(answer["version"] == "2" && answer.header("etag") == "\"v2\"")
        #expect(try server.types("t") == ["created", "activated"])
    }

    @Test func `a kick is legal where the machine allows it`() throws {
        for state in TimerState.allCases {
            let id = "\(state.name)"
            let start = state == .idle ? "manual" : "now"
            try server.make(#"{"id":"\#(id)","watchdog":"1h","maxFires":1,"start":"\#(start)"}"#)
            switch state {
            case .idle, .running: break
            case .suspended: try server.command(id, "suspend")
            case .cancelled: try server.command(id, "cancel")
            case .completed: try server.command(id, "fire")
            }
            let timer = try server.timer(id)
            #expect(timer["state"] == id && timer["allowed"] == WholeServer.allowed(in: state, isWatchdog: true))
            let answer = try server.ask("POST", "/v1/timers/\(id)/kick")
            let isLegal = state == .running || state == .suspended
            #expect(answer.verdict == (isLegal ? "200" : "409 illegal-transition"), "\(id)")
            if !isLegal { #expect(answer["allowed"] == timer["allowed"] && answer["command"] == "kick", "\(id)") }
            if state == .suspended { #expect(answer.text == "\(timer)") }
        }
    }

    @Test func `other kinds are no watchdogs`() throws {
        for schedule in [#""after":"1h""#, #""every":"1h""#, #""cron":"@daily""#] {
            let timer = try server.make("{\(schedule)}")
            #expect(timer["health"] == nil && timer["allowed"]?.contains("kick") == false)
            let answer = try server.ask("POST", "/v1/timers/\(timer["id"] ?? "")/kick")
            #expect(answer.verdict == "409 not-a-watchdog" && answer["timer"] == timer["id"])
            #expect(answer["allowed"] == timer["allowed"])
        }
    }

    @Test func `one that alarms is found by its health, and is none of the due`() throws {
        for id in ["a", "b", "suspended", "cancelled", "deleted", "kicked"] {
            try server.make(#"{"id":"\#(id)","watchdog":"500ms"}"#)
        }
        server.time.pass(milliseconds: 500)
        for id in ["a", "b", "suspended", "cancelled", "deleted", "kicked"] {
            #expect(try server.ask("GET", "/v1/timers/\(id)/wait?since=0&timeout=60s").status == 200)
        }
        try server.command("suspended", "suspend")
        try server.command("cancelled", "cancel")
        #expect(try server.ask("DELETE", "/v1/timers/deleted").status == 204)
        try server.command("kicked", "kick")
        try server.make(#"{"id":"well","watchdog":"1h"}"#)
        try server.make("other", in: .running)
        for (query, expected) in [
            ("health=stalled", "a b"), ("health=stalled&state=running&kind=watchdog", "a b"),
            ("health=ok", "kicked well"),
            ("health=stalled&state=suspended,cancelled", ""), ("health=stalled&idPrefix=b", "b"),
            ("sort=nextFireAt", "kicked other well"), ("dueBefore=2099-01-01T00:00:00Z", "kicked other well"),
            ("kind=watchdog&state=running", "a b kicked well"),
        ] {
            let page = try #require(ShownJSON(try server.ask("GET", "/v1/timers?\(query)").text))
            let ids = page.elements("timers").compactMap { $0["id"] }
            #expect(ids.sorted().joined(separator: " ") == expected, "\(query)")
        }
        #expect(try server.ask("GET", "/metrics").text.contains("timerd_watchdogs_stalled 2\n"))
    }

    @Test func `an identical declaration leaves an alarm, and a replacement ends it`() throws {
        try server.make(#"{"id":"t","watchdog":"500ms"}"#)
        _ = try alarm("t")
        let same = try server.ask("PUT", "/v1/timers/t?apply=true", #"{"watchdog":"500ms"}"#)
        #expect(same["health"] == "stalled")
        let after = try server.ask("PUT", "/v1/timers/t", #"{"watchdog":"1h"}"#)
        let events = try server.events("t").filter { $0["version"] == after["version"] }
        #expect(events.map { $0["type"] } == ["recovered", "updated", "activated"])
        #expect(events.first?["stalledFor"] == "0s" && events.first?["silentFor"] == "500ms")
        #expect(try server.types("t").count { $0 == "recovered" } == 1)
    }

    @Test func `one that ends stalled is shown as it ended`() throws {
        try server.make(#"{"id":"t","watchdog":"500ms","maxFires":1}"#)
        _ = try alarm("t")
        let timer = try server.timer("t")
        #expect(timer["state"] == "completed" && timer["health"] == "stalled")
    }

    @Test func `the alarm of a scheduled one is due the grace after the next instant, kicked or not`() throws {
        try server.make(#"{"id":"t","watchdog":"1h","cron":"0 3 * * *","from":"2035-03-24T12:00:00Z"}"#)
        #expect(try server.timer("t")["nextFireAt"] == "2035-03-25T04:00:00.000Z")
        let kicked = try server.command("t", "kick")
        #expect(kicked["nextFireAt"] == "2035-03-25T04:00:00.000Z" && kicked["kickCount"] == "1")
        let next = try server.ask("GET", "/v1/timers/t/next?count=2")
        #expect(next.text == #"{"fires":["2035-03-25T03:00:00.000Z","2035-03-26T03:00:00.000Z"]}"#)
    }
}
