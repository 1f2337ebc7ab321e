import TestSupport
import Testing
import TimerCore
import TimerService

@testable import TimerAPI

extension WholeServer {
    /// Posts a timer, which must be made. Returns the timer as answered.
    @discardableResult
    func make(_ fields: String) throws -> ShownJSON {
        let answer = try ask("POST", "/v1/timers", fields)
        try #require(answer.status == 201, "\(fields): \(answer.text)")
        return try #require(ShownJSON(answer.text))
    }

    /// Makes a one-shot timer of an hour, and brings it into `state`.
    @discardableResult
    func make(_ id: String, in state: TimerState, _ fields: String = "") throws -> ShownJSON {
        let start = state == .idle ? "manual" : "now"
        try make(#"{"id":"\#(id)","after":"1h","start":"\#(start)"\#(fields.isEmpty ? "" : ",")\#(fields)}"#)
        switch state {
        case .idle, .running: break
        case .suspended: try command(id, "suspend")
        case .cancelled: try command(id, "cancel")
        case .completed: try command(id, "fire")
        }
        let timer = try timer(id)
        #expect(timer["state"] == "\(state.name)")
        return timer
    }

    /// Sends a command that must succeed. Returns the timer as answered.
    @discardableResult
    func command(_ id: String, _ command: String, _ body: String? = nil) throws -> ShownJSON {
        let answer = try ask("POST", "/v1/timers/\(id)/\(command)", body)
        try #require(answer.status == 200, "\(command) \(id): \(answer.text)")
        return try #require(ShownJSON(answer.text))
    }

    /// The timer, which exists.
    func timer(_ id: String) throws -> ShownJSON {
        let answer = try ask("GET", "/v1/timers/\(id)")
        try #require(answer.status == 200, "\(id): \(answer.text)")
        return try #require(ShownJSON(answer.text))
    }

    /// The events of a timer, oldest first.
    func events(_ id: String) throws -> [ShownJSON] {
        try ask("GET", "/v1/timers/\(id)/events?follow=false").lines
    }

    /// The types of a timer's events, oldest first.
    func types(_ id: String) throws -> [String] { try events(id).compactMap { $0["type"] } }

    /// The position of the newest record, which a request that changes nothing leaves as it is.
    var head: Int64 { service.engine.turn { (turn: borrowing Turn) in turn.head } }

    /// The text of a JSON array of strings.
    static func array(_ words: some Sequence<some CustomStringConvertible>) -> String {
        "[" + words.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }

    /// The commands that are legal, as a timer shows them.
    static func allowed(in state: TimerState, restartable: Bool = false, isWatchdog: Bool = false) -> String {
        array(
            TimerCommand.allCases.filter {
                TimerMachine.allows($0, in: state, restartable: restartable, isWatchdog: isWatchdog)
            }.map(\.name))
    }
}
