import Platform
import TestSupport
import Testing
import TimerLog

/// Requests at servers that forward to the one that owns the timers.
@Suite(.serialized) struct ForwardedRequestTests {
    private let time = ManualTime()
    private let store = MemoryLogStore()

    private func serve<Result>(_ count: Int = 3, owner: Int = 0, _ body: (ServerGroup) throws -> Result) throws
        -> Result
    {
        let group = try ServerGroup(store, time, count, owner: owner)
        defer { group.stop() }
        return try body(group)
    }

    private static func batch(_ count: Int) -> String {
        (0..<count).map { index in
            #"{"id":"t\#(index)","after":"\#(index % 40 + 1)s","labels":{"k":"\#(index % 3)"}}"#
        }.joined(separator: "\n") + "\n"
    }

    private static let lines = "application/x-ndjson"

    @Test func `every server answers as the owner does`() throws {
        try serve { group in
            let made = try group.ask(1, "POST", "/v1/timers/batch?results=brief", Self.batch(60), type: Self.lines)
            try #require(made.status == 200, "\(made.text)")
            for index in 0..<10 {
                let body = #"{"after":"1h","labels":{"k":"1"},"webhook":{"url":"http://example.com/hook"}}"#
                try #require(try group.ask(index % 3, "PUT", "/v1/timers/w\(index)", body).status == 201)
                try #require(try group.ask(index % 3, "POST", "/v1/timers/w\(index)/fire").status == 200)
            }
            for path in [
                "/v1/timers?limit=1000", "/v1/timers?limit=7", "/v1/timers?limit=5&label=k%3D1",
                "/v1/timers?sort=nextFireAt&limit=7", "/v1/timers?limit=nonsense", "/v1/timers/t3", "/v1/timers/none",
                "/v1/deliveries?limit=7", "/v1/deliveries?timer=w4", "/v1/deliveries/1", "/v1/events?follow=false",
                "/v1/import/\(String(repeating: "a", count: 32))",
            ] {
                for method in ["GET", "HEAD"] {
                    let answers = try (0..<3).map { try group.ask($0, method, path) }
                    for name in ["content-type", "event-id", "link", "etag"] {
                        #expect(Set(answers.map { $0.header(name) }).count == 1, "\(method) \(path): \(name)")
                    }
                    #expect(answers.allSatisfy { $0.header("timerd-problem") == nil }, "\(method) \(path)")
                    #expect(Set(answers.map(\.status)).count == 1, "\(method) \(path)")
                    #expect(Set(answers.map(\.text)).count == 1, "\(method) \(path)")
                }
            }
        }
    }

    @Test func `a timer is applied whichever server is asked`() throws {
        try serve { group in
            let path = "/v1/timers/t?apply=true"
            let made = try group.ask(1, "PUT", path, #"{"after":"1h"}"#)
            #expect(made.status == 201 && made.header("location") == "/v1/timers/t", "\(made.text)")
            for server in 0..<3 {
                let again = try group.ask(server, "PUT", path, #"{"after":"60m"}"#)
                #expect(again.status == 200 && again.header("etag") == made.header("etag"), "\(again.text)")
                let dry = try group.ask(server, "PUT", path + "&dryRun=true", #"{"after":"2h"}"#)
                #expect(dry.text == #"{"differs":["/after"]}"#)
                let line = #"{"apply":{"id":"t","after":"1h"}}"#
                let lines = try group.ask(
                    server, "POST", "/v1/timers/batch?results=brief", line, key: "tea", type: Self.lines)
                #expect(lines.text == #"{"status":200,"id":"t","version":1}"# + "\n")
            }
        }
    }

    @Test func `a server whose owner is gone is not ready, though the database does not tell it`() throws {
        try serve { group in
            func isReady() throws -> Bool { try group.ask(1, "GET", "/readyz").status == 200 }
            try #expect(isReady())
            group.killUnseen()
            try #expect(isReady(), "no request has found that yet")
            try #expect(group.ask(1, "GET", "/v1/timers").status == 503)
            try #expect(!isReady())
        }
    }

    @Test func `a batch and a bulk command with a key are carried out once, whichever servers are asked`() throws {
        let body = Self.batch(30) + #"{"after":"5s"}"# + "\n" + #"{"after":"7s"}"# + "\n"
        func send(_ group: ServerGroup, _ server: Int, _ body: String) throws -> RawClient.Answer {
            try group.ask(server, "POST", "/v1/timers/batch?results=brief", body, key: "tea", type: Self.lines)
        }
        func suspend(_ group: ServerGroup, _ server: Int) throws -> RawClient.Answer {
            try group.ask(server, "POST", "/v1/timers/bulk/suspend", #"{"labels":{"k":"1"}}"#, key: "halt")
        }
        let (made, suspended) = try serve { group in
            let made = try send(group, 1, body)
            let suspended = try suspend(group, 2)
            #expect(made.status == 200 && made.header("idempotency-replayed") == nil)
            #expect(suspended.text == #"{"matched":10,"changed":10,"skipped":0}"#)
            return (made.text, suspended.text)
        }
        try serve(owner: 2) { group in
            for server in 0..<3 {
                let (again, halted) = (try send(group, server, body), try suspend(group, server))
                #expect(again.text == made && again.header("idempotency-replayed") == "true")
                #expect(halted.text == suspended && halted.header("idempotency-replayed") == "true")
                let other = try send(group, server, Self.batch(3))
                #expect(other.status == 422 && other.text.contains("idempotency-mismatch"), "\(other.text)")
            }
            #expect(group.timers == 32)
        }
    }

    @Test func `drains and stats are the owner's`() throws {
        try serve { group in
            _ = try group.ask(2, "POST", "/v1/timers/batch", Self.batch(60), type: Self.lines)
            #expect(try group.ask(1, "POST", "/v1/drain").text == #"{"drained":true,"attemptsUnderWay":0}"#)
            for server in 0..<3 {
                let stats = try group.ask(server, "GET", "/v1/stats").text
                #expect(stats.contains(#""running":60"#) && stats.contains(#""drained":true"#), "\(stats)")
                let refused = try group.ask(server, "POST", "/v1/timers", #"{"after":"1s"}"#)
                #expect(refused.status == 503 && refused.text.contains("drained"), "\(refused.text)")
            }
            #expect(try group.ask(0, "DELETE", "/v1/drain").text == #"{"drained":false,"attemptsUnderWay":0}"#)
            #expect(try group.ask(2, "POST", "/v1/timers", #"{"after":"1s"}"#).status == 201)
        }
    }

    @Test func `a request at a server that owns the timers no more goes to the one that does`() throws {
        try serve { group in
            _ = try group.ask(0, "POST", "/v1/timers/batch", Self.batch(60), type: Self.lines)
            let before = try group.ask(0, "GET", "/v1/timers?limit=1000").text
            try group.move(to: 1)
            // Server 2 still takes server 0 for the owner.
            let answer = Guarded("")
            let port = try group.port(of: 2)
            let request = Background {
                let text = RawClient(port: port).get("/v1/timers?limit=1000")?.text
                answer.withLock { $0 = text ?? "none" }
            }
            try eventually("server 0 refuses the request") {
                try group.ask(0, "GET", "/metrics").text.contains(#"code="421""#)
            }
            group.publish(to: 2)
            try request.finish("the list")
            #expect(answer.withLock { $0 } == before)
            group.publish(to: 0)
            #expect(try group.ask(0, "GET", "/v1/timers?limit=1000").text == before)
        }
    }

    @Test func `a head that is as large as may be has room for what servers add`() throws {
        try serve(2) { group in
            let filler = "X-Filler: \(String(repeating: "x", count: 8000))\r\n"
            let answer = try group.ask(1, "GET", "/v1/timers", headers: filler)
            #expect(answer.status == 200, "\(answer.text)")
        }
    }
}
