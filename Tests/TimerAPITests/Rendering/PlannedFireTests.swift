import TestSupport
import Testing

@testable import TimerAPI

/// `nextFireAt` in events, by which a client counts down without reading the timer.
@Suite(.serialized) struct PlannedFireTests {
    private static let planning: Set = ["created", "activated", "resumed", "rescheduled", "updated", "fired"]

    private let server: WholeServer

    init() throws { server = try WholeServer() }

    /// The next fire that the timer shows, which the newest events must show as well.
    private func planned(_ id: String) throws -> String? {
        let timer = try server.timer(id)
        for event in try server.events(id) {
            let isPlanning = event["type"].map { Self.planning.contains($0) } ?? false
            #expect((event["nextFireAt"] != nil) == isPlanning, "\(event)")
            if isPlanning, event["version"] == timer["version"] {
                #expect(event["nextFireAt"] == timer["nextFireAt"], "\(event)")
            }
        }
        return timer["nextFireAt"] == "null" ? nil : timer["nextFireAt"]
    }

    @Test func `the events of every step show what the timer shows`() throws {
        for (index, schedule) in [
            #""after":"1h""#, #""at":"2040-01-01T00:00:00Z""#, #""every":"1h""#, #""every":"1h","after":"10m""#,
            #""cron":"0 9 * * MON""#, #""every":"1h","jitter":"10m","leeway":"1m""#,
            #""after":"1h","clock":"suspending""#, #""watchdog":"1h""#,
        ].enumerated() {
            let id = "t\(index)"
            try server.make(#"{"id":"\#(id)",\#(schedule),"start":"manual","restartable":true}"#)
            #expect(try planned(id) == nil, "\(schedule)")
            let isGrid = schedule.contains("every") || schedule.contains("cron")
            for command in ["activate", "suspend", "resume"] + (isGrid ? ["fire"] : []) {
                try server.command(id, command)
                #expect(try (planned(id) == nil) == (command == "suspend"), "\(command) \(schedule)")
            }
            try server.command(id, "reschedule", #"{"after":"3h"}"#)
            #expect(try planned(id) != nil, "reschedule \(schedule)")
            _ = try server.ask("PATCH", "/v1/timers/\(id)", #"{"labels":{"a":"b"}}"#)
            #expect(try planned(id) != nil, "patch \(schedule)")
            _ = try server.ask("PUT", "/v1/timers/\(id)", "{\(schedule)}")
            #expect(try planned(id) != nil, "put \(schedule)")
            try server.command(id, "cancel")
            #expect(try planned(id) == nil, "cancel \(schedule)")
        }
    }

    @Test func `a timer that starts at once shows its plan in both events`() throws {
        let timer = try server.make(#"{"id":"t","after":"1h"}"#)
        #expect(try server.events("t").map { $0["nextFireAt"] } == [timer["nextFireAt"], timer["nextFireAt"]])
    }

    @Test func `a fire shows the one that follows, and a last one none`() throws {
        for (index, (fields, isLast)) in [
            (#""after":"500ms""#, true), (#""every":"500ms""#, false), (#""every":"500ms","maxFires":1"#, true),
            (#""watchdog":"500ms","clock":"continuous""#, true), (#""watchdog":"500ms","maxFires":1"#, true),
            (#""watchdog":"500ms","repeatAlarm":true"#, false),
        ].enumerated() {
            let id = "t\(index)"
            try server.make(#"{"id":"\#(id)",\#(fields)}"#)
            server.time.pass(milliseconds: 500)
            let fired = try server.ask("GET", "/v1/timers/\(id)/wait?since=0&timeout=60s")
            #expect(fired["type"] == "fired" && (fired["nextFireAt"] == "null") == isLast, "\(fields): \(fired.text)")
            #expect(try planned(id) == (isLast ? nil : fired["nextFireAt"]), "\(fields)")
            _ = try server.ask("DELETE", "/v1/timers/\(id)")
        }
    }

    @Test func `a watchdog that ends before it could alarm plans none`() throws {
        try server.make(#"{"id":"t","watchdog":"1h","until":"2023-11-14T23:13:20.500Z"}"#)
        #expect(try planned("t") != nil)
        server.time.pass(milliseconds: 600)
        let kicked = try server.command("t", "kick")
        #expect(kicked["nextFireAt"] == "null" && kicked["remaining"] == "null")
        _ = try server.ask("PATCH", "/v1/timers/t", #"{"labels":{"a":"b"}}"#)
        #expect(try planned("t") == nil)
        let answer = try server.ask("PATCH", "/v1/timers/t", #"{"until":"2020-01-01T00:00:00Z"}"#)
        #expect(answer.verdict == "400 invalid-schedule /until")
    }
}
