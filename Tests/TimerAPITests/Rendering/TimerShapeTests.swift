import TestSupport
import Testing
import TimerService

@testable import TimerAPI

/// Timers of each kind as the API shows them, at 2023-11-14T22:13:20Z.
@Suite(.serialized) struct TimerShapeTests {
    /// The members that a timer shows beside those that all have.
    private struct Shape {
        var schedule: String
        var clock: String
        var policies = Shape.defaults
        var kind: String
        var due: String
        var left: String
        var health = ""
        var kick = ""

        static let defaults = #""onResume":"remaining","misfire":"once","misfireGrace":null"#
        static let repeating = #""mode":"fixedRate","# + defaults
        static let dog = #""misses":1,"repeatAlarm":false"#
        static let healthy = #""health":"ok","lastKickedAt":null,"kickCount":0,"#

        /// The members about a calendar, which the timer has none of.
        private var calendar: String {
            if clock == "suspending" && !schedule.contains("cron") { return "" }
            let policy = kind == "oneShot" ? "next" : "skip"
            return #""calendar":null,"# + (clock == "continuous" ? "" : #""onClosed":"\#(policy)","#)
        }

        func text(_ id: String) -> String {
            #"{"id":"\#(id)",\#(schedule),\#(calendar)"start":"now","stop":null,"clock":"\#(clock)","leeway":"0s","#
                + #""jitter":"0s",\#(policies),"maxFires":null,"until":null,"restartable":false,"retain":"1d","labels":{},"payload":null,"#
                + #""webhook":null,"state":"running","kind":"\#(kind)","createdAt":"2023-11-14T22:13:20.000Z","#
                + #""updatedAt":"2023-11-14T22:13:20.000Z","version":1,"nextFireAt":"\#(due)","remaining":"\#(left)","#
                + #""lastFiredAt":null,"fireCount":0,"missedCount":0,\#(health)"#
                + #""allowed":["suspend","cancel",\#(kick)"fire","reschedule"]}"#
        }
    }

    private static let shapes = [
        Shape(
            schedule: #""after":"1h""#, clock: "continuous", kind: "oneShot", due: "2023-11-14T23:13:20.000Z",
            left: "1h"),
        Shape(
            schedule: #""at":"2023-11-15T22:13:20.000Z""#, clock: "wall", kind: "oneShot",
            due: "2023-11-15T22:13:20.000Z", left: "1d"),
        Shape(
            schedule: #""every":"1h""#, clock: "continuous", policies: Shape.repeating,
            kind: "repeating", due: "2023-11-14T23:13:20.000Z", left: "1h"),
        Shape(
            schedule: #""every":"1h","after":"2h""#, clock: "continuous",
            policies: Shape.repeating, kind: "repeating", due: "2023-11-15T00:13:20.000Z",
            left: "2h"),
        Shape(
            schedule: #""every":"1h","at":"2023-11-14T22:43:20.000Z""#, clock: "wall",
            policies: Shape.repeating, kind: "repeating", due: "2023-11-14T22:43:20.000Z",
            left: "30m"),
        Shape(
            schedule: #""every":"1d","at":"2023-11-15T00:00:00.000Z","timeZone":"Europe/Berlin""#, clock: "wall",
            policies: Shape.repeating, kind: "repeating", due: "2023-11-15T00:00:00.000Z",
            left: "1h46m40s"),
        Shape(
            schedule: #""cron":"0 9 * * MON-FRI","timeZone":"Europe/Berlin","from":null"#, clock: "wall",
            kind: "cron", due: "2023-11-15T08:00:00.000Z", left: "9h46m40s"),
        Shape(
            schedule: #""cron":"30 12 * * *","timeZone":"UTC","from":"2023-11-20T12:30:00.000Z""#, clock: "wall",
            kind: "cron", due: "2023-11-20T12:30:00.000Z", left: "5d14h16m40s"),
        Shape(
            schedule: #""watchdog":"1h""#, clock: "suspending", policies: Shape.dog, kind: "watchdog",
            due: "2023-11-14T23:13:20.000Z", left: "1h", health: Shape.healthy, kick: #""kick","#),
        Shape(
            schedule: #""watchdog":"1h","cron":"@daily","timeZone":"UTC","from":null"#, clock: "suspending",
            policies: Shape.dog, kind: "watchdog", due: "2023-11-15T01:00:00.000Z", left: "2h46m40s",
            health: Shape.healthy, kick: #""kick","#),
    ]

    private let server: WholeServer

    init() throws {
        var engine = EngineConfiguration()
        engine.zones = SystemZones()
        server = try WholeServer(engine: engine)
    }

    @Test func `a timer shows its schedule, what its kind uses, and how it is`() throws {
        for (index, shape) in Self.shapes.enumerated() {
            let made = try server.ask("PUT", "/v1/timers/t\(index)", "{\(shape.schedule)}")
            #expect(made.text == shape.text("t\(index)"))
        }
    }

    @Test func `what is shown can be put and patched back, and replaces nothing by other fields`() throws {
        for (index, shape) in Self.shapes.enumerated() {
            let id = "t\(index)"
            let made = try server.ask("PUT", "/v1/timers/\(id)", "{\(shape.schedule),\"leeway\":\"1s\"}")
            let patched = try server.ask("PATCH", "/v1/timers/\(id)", made.text)
            #expect(patched.status == 200 && patched.text == made.text, "\(patched.text)")
            let again = try server.ask("PUT", "/v1/timers/\(id)", made.text)
            #expect(again.text == made.text.replacing(#""version":1,"#, with: #""version":2,"#))
        }
    }

    @Test func `every clock that is no calendar's is shown`() throws {
        for schedule in [#""after":"1h""#, #""every":"1h""#, #""every":"1h","after":"2h""#, #""watchdog":"1h""#] {
            for clock in ["wall", "continuous", "suspending"] {
                let timer = try server.make("{\(schedule),\"clock\":\"\(clock)\"}")
                #expect(timer["clock"] == clock && timer["remaining"]?.hasSuffix("h") ?? false)
            }
        }
    }
}
