import TestSupport
import Testing
import TimerLog

/// Streams of a timer that is deleted.
@Suite(.serialized) struct DeletedTimerStreamTests {
    private static let paths = ["/v1/timers/tea/events?", "/v1/events?timer=tea&"]

    /// Calls `body` with servers that share a log, in which `tea` was created, suspended and deleted, and with the
    /// events of `tea`.
    private func serve(_ body: (ServerGroup, [Substring]) throws -> Void) throws {
        let group = try ServerGroup(MemoryLogStore(), ManualTime(), 2)
        defer { group.stop() }
        try #require(try group.ask(0, "PUT", "/v1/timers/tea", #"{"after":"1h"}"#).status == 201)
        try #require(try group.ask(0, "POST", "/v1/timers/tea/suspend").status == 200)
        try #require(try group.ask(0, "DELETE", "/v1/timers/tea").status == 204)
        let history = try group.ask(0, "GET", "/v1/events?follow=false").text.split(separator: "\n")
        try #require(history.count == 4)
        try body(group, history)
    }

    /// The id of an event, which is its first member.
    private func id(of event: Substring) throws -> Substring {
        let parts = event.split(separator: "\"")
        try #require(parts.count > 3 && parts[1] == "id")
        return parts[3]
    }

    @Test(arguments: paths, [0, 1])
    func `a stream shows what is left`(path: String, server: Int) throws {
        try serve { group, history in
            let second = try id(of: history[1])
            let cases: [(query: String, events: ArraySlice<Substring>)] = [
                ("", history[0...]), ("since=0", history[0...]), ("since=\(second)", history[2...]),
                ("since=\(second)&types=deleted", history[3...]), ("limit=1", history[..<1]),
            ]
            for (query, events) in cases {
                let answer = try group.ask(server, "GET", path + query)
                #expect(answer.status == 200, "\(query)")
                #expect(answer.text.split(separator: "\n")[...] == events, "\(query)")
                #expect(try group.ask(server, "HEAD", path + query).status == 200, "\(query)")
            }
        }
    }

    @Test(arguments: paths, [0, 1])
    func `a stream with nothing left is 204, at which a browser stops`(path: String, server: Int) throws {
        try serve { group, history in
            let (second, last) = (try id(of: history[1]), try id(of: history[3]))
            for query in ["since=\(last)", "types=fired", "since=\(second)&types=created", "label=a%3Db"] {
                for method in ["GET", "HEAD"] {
                    let answer = try group.ask(server, method, path + query, headers: "Accept: text/event-stream\r\n")
                    #expect(answer.status == 204, "\(method) \(query)")
                    #expect(answer.body == [], "\(method) \(query)")
                    #expect(answer.header("Event-Id").map { $0 >= last } == true, "\(method) \(query)")
                }
                let replay = try group.ask(server, "GET", path + query + "&follow=false")
                #expect(replay.status == 200 && replay.body == [], "\(query)")
            }
        }
    }

    @Test(arguments: paths, ["GET", "HEAD"])
    func `events of an earlier timer of the id are not what is left`(path: String, method: String) throws {
        try serve { group, _ in
            try #require(try group.ask(0, "PUT", "/v1/timers/tea", #"{"after":"1h"}"#).status == 201)
            try #require(try group.ask(0, "DELETE", "/v1/timers/tea").status == 204)
            // Only the earlier timer of that id was suspended.
            #expect(try group.ask(0, method, path + "types=suspended").status == 204)
        }
    }

    @Test(arguments: ["limit=0", "types=bogus", "since=99999999999999999999"])
    func `a malformed parameter is told though the timer is deleted`(query: String) throws {
        try serve { group, _ in
            for path in Self.paths {
                let status = try group.ask(0, "GET", path + query).status
                #expect(status == 400, "\(path)")
            }
        }
    }

    @Test(arguments: paths)
    func `a stream of a timer that exists stays open`(path: String) throws {
        try serve { group, history in
            try #require(try group.ask(0, "PUT", "/v1/timers/tea", #"{"after":"1h"}"#).status == 201)
            let last = try id(of: history[3])
            #expect(try group.ask(0, "HEAD", path + "since=\(last)&types=fired").status == 200)
        }
    }
}
