import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// Commands to one timer, as the API answers them.
@Suite(.serialized) struct CommandTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    /// Sends a command to a timer, with the body that the command takes.
    private func send(_ command: TimerCommand, to id: String) throws -> RawClient.Answer {
        try server.ask("POST", "/v1/timers/\(id)/\(command.name)", command == .reschedule ? #"{"after":"2h"}"# : nil)
    }

    /// The state that a legal command brings a one-shot timer into.
    private func next(_ command: TimerCommand, _ state: TimerState) -> TimerState {
        if command == .fire { return .completed }
        guard case .go(let next, _) = TimerMachine.transition(command, in: state) else { return .running }
        return next
    }

    private static let events = [
        "activate": ["activated"], "suspend": ["suspended"], "resume": ["resumed"], "cancel": ["cancelled"],
        "fire": ["fired", "completed"], "reschedule": ["rescheduled"],
    ]

    @Test(arguments: [false, true])
    func `a legal command answers the timer, another one what is legal`(restartable: Bool) throws {
        for command in TimerCommand.allCases {
            for state in TimerState.allCases {
                let id = "\(command.name)-\(state.name)"
                let before = try server.make(id, in: state, #""restartable":\#(restartable)"#)
                let (told, head) = (try server.events(id), server.head)
                let answer = try send(command, to: id)
                if TimerMachine.allows(command, in: state, restartable: restartable, isWatchdog: false) {
                    let next = next(command, state)
                    #expect(answer.status == 200 && answer["state"] == "\(next.name)", "\(id): \(answer.text)")
                    #expect(answer["allowed"] == WholeServer.allowed(in: next, restartable: restartable), "\(id)")
                    #expect(answer.header("etag") == "\"v\(answer["version"] ?? "")\"", "\(id)")
                    #expect(answer["version"] != before["version"], "\(id)")
                    let events = try server.events(id).dropFirst(told.count)
                    #expect(events.compactMap { $0["type"] } == Self.events["\(command.name)"], "\(id)")
                    #expect(events.allSatisfy { $0["version"] == answer["version"] }, "\(id)")
                } else {
                    let kind = command == .kick ? "not-a-watchdog" : "illegal-transition"
                    #expect(answer.verdict == "409 \(kind)", "\(id): \(answer.text)")
                    #expect(answer["timer"] == id && answer["state"] == "\(state.name)", "\(id)")
                    #expect(answer["command"] == "\(command.name)", "\(id)")
                    #expect(answer["allowed"] == WholeServer.allowed(in: state, restartable: restartable), "\(id)")
                    #expect(server.head == head, "\(id)")
                }
            }
        }
    }

    @Test func `an empty body, an empty object and none are the same`() throws {
        try server.make("t", in: .running)
        #expect(try server.ask("POST", "/v1/timers/t/suspend", "{}").status == 200)
        #expect(try server.ask("POST", "/v1/timers/t/resume", "").status == 200)
        #expect(try server.ask("POST", "/v1/timers/t/suspend").status == 200)
    }

    @Test func `a command that can't be read changes nothing`() throws {
        try server.make("t", in: .running)
        let head = server.head
        let rows: [(command: String, body: String?, verdict: String)] = [
            ("suspend", #"{"why":1}"#, "400 unknown-field /why"), ("suspend", "[]", "400 invalid-request the body"),
            ("reschedule", "{}", "400 invalid-request the body"), ("reschedule", nil, "400 invalid-request"),
            ("suspend?force=1", nil, "400 unknown-field ?force"),
        ]
        for (command, body, verdict) in rows {
            #expect(try server.ask("POST", "/v1/timers/t/\(command)", body).verdict == verdict, "\(command)")
        }
        #expect(server.head == head)
    }

    @Test func `a reschedule moves the next fire and no field`() throws {
        try server.make("t", in: .running)
        let moved = try server.command("t", "reschedule", #"{"at":"2099-01-01T00:00:00Z"}"#)
        #expect(moved["nextFireAt"] == "2099-01-01T00:00:00.000Z" && moved["after"] == "1h")
        #expect(try server.command("t", "reschedule", #"{"after":"2h"}"#)["remaining"] == "2h")
        try server.command("t", "suspend")
        #expect(try server.command("t", "reschedule", #"{"after":"3h"}"#)["remaining"] == "3h")
        #expect(try server.command("t", "resume")["remaining"] == "3h")
    }

    @Test func `an activation begins the period again and keeps the counts`() throws {
        try server.make("t", in: .completed, #""restartable":true"#)
        server.time.pass(milliseconds: 60_000)
        let again = try server.command("t", "activate")
        #expect(again["state"] == "running" && again["remaining"] == "1h" && again["fireCount"] == "1")
        #expect(try server.command("t", "fire")["fireCount"] == "2")
    }

    @Test func `a word that is no command gets the commands, and the one meant`() throws {
        try server.make("t", in: .running)
        let rows: [(word: String, meant: String?)] = [
            ("pause", "suspend"), ("start", "activate"), ("stop", "cancel"), ("unpause", "resume"),
            ("reset", "reschedule"), ("explode", nil),
        ]
        for (word, meant) in rows {
            let answer = try server.ask("POST", "/v1/timers/t/\(word)")
            #expect(answer.verdict == "404 not-found", "\(word)")
            let commands = TimerCommand.allCases.map { "\($0.name)" }
            #expect(answer["commands"] == WholeServer.array(commands), "\(word)")
            #expect(answer["didYouMean"] == meant, "\(word)")
            let many = try server.ask("POST", "/v1/timers/bulk/\(word)", #"{"labels":{"a":"b"}}"#)
            #expect(many.verdict == "404 not-found", "\(word)")
            #expect(many["commands"] == WholeServer.array(commands + ["delete"]), "\(word)")
            #expect(many["didYouMean"] == meant, "\(word)")
        }
    }

    @Test func `If-Match is judged against the version`() throws {
        let rows: [(tag: String, told: String?)] = [
            (#""v3""#, nil), ("*", nil), (#""v0", "v3""#, nil), (#""v1""#, "the timer is at version v3"),
            (#"W/"v3""#, "weak"), ("v3", "quoted"), (#""v4""#, "the timer is at version v3"),
            (#""elsewhere""#, "the timer is at version v3"),
        ]
        for (index, (tag, told)) in rows.enumerated() {
            let id = "t\(index)"
            try server.make(id, in: .suspended)
            try server.command(id, "resume")
            let answer = try server.ask("POST", "/v1/timers/\(id)/suspend", headers: "If-Match: \(tag)\r\n")
            if let told {
                #expect(answer.verdict == "412 version-mismatch" && answer["timer"] == id, "\(tag)")
                #expect(answer["current"] == "3" && answer["detail"]?.contains(told) ?? false, "\(answer.text)")
                #expect(try server.timer(id)["version"] == "3", "\(tag)")
            } else {
                #expect(answer["state"] == "suspended", "\(answer.text)")
            }
        }
    }

    @Test func `If-None-Match: * says that the timer, or the calendar, exists`() throws {
        try server.make("t", in: .running)
        let answer = try server.ask("PUT", "/v1/timers/t", #"{"after":"1h"}"#, headers: "If-None-Match: *\r\n")
        #expect(answer.verdict == "412 version-mismatch" && answer["current"] == "1")
        #expect(answer["detail"] == "a timer with this id exists; it is at version v1")
        let hours = #"{"timeZone":"UTC","week":{"mon":["09:00-17:00"]}}"#
        #expect(try server.ask("PUT", "/v1/calendars/c", hours).status == 201)
        let calendar = try server.ask("PUT", "/v1/calendars/c", hours, headers: "If-None-Match: *\r\n")
        #expect(calendar["detail"]?.hasPrefix("a calendar with this name exists; it is at version v") == true)
    }

    @Test func `a body that is no JSON is refused with the place`() throws {
        for (body, told) in [
            (#"{"after":"1h",}"#, "expected a key in quotes at byte 14"), ("{", "unexpected end at byte 1"),
        ] {
            let answer = try server.ask("POST", "/v1/timers", body)
            #expect(answer.status == 400 && answer["detail"] == told, "\(answer.text)")
        }
    }

    @Test func `an absent timer is told before a conflict, and that before a mismatch`() throws {
        let tag = "If-Match: \"v0\"\r\n"
        let absent = try server.ask("POST", "/v1/timers/none/suspend", headers: tag)
        #expect(absent.verdict == "404 not-found" && absent["timer"] == "none")
        try server.make("t", in: .cancelled)
        let conflict = try server.ask("POST", "/v1/timers/t/suspend", headers: tag)
        #expect(conflict.verdict == "409 illegal-transition")
    }
}
