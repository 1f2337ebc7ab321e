import TestSupport
import Testing

/// Query parameters of the routes, whatever their meaning.
struct QueryTests {
    @Test func `a parameter without a value is refused by its name`() throws {
        let server = try WholeServer()
        try #require(try server.ask("PUT", "/v1/timers/held", #"{"after":"1h"}"#).status == 201)
        let parameters = [
            ("/v1/timers", "state kind label dueBefore sort limit cursor"),
            ("/v1/events", "timer since types label follow limit"), ("/v1/deliveries", "state timer host limit cursor"),
            ("/v1/timers/held/events", "since types label follow limit"), ("/v1/timers/held/wait", "since timeout"),
            ("/v1/timers/held/next", "count describe"), ("/v1/stats/due", "within buckets"),
            ("/v1/stats/history", "minutes"),
        ]
        for (path, names) in parameters {
            for name in names.split(separator: " ") {
                for target in ["\(path)?\(name)", "\(path)?\(name)="] {
                    let answer = try server.ask("GET", target)
                    #expect(answer.problem(at: target) == "invalid-request", "\(target)")
                    #expect(answer["parameter"] == String(name), "\(target)")
                }
            }
        }
    }

    @Test func `a parameter of one word takes one`() throws {
        let answer = try WholeServer().ask("GET", "/v1/timers?sort=nextFireAt,nextFireAt")
        #expect(answer.status == 400)
        #expect(answer["parameter"] == "sort")
    }

    @Test func `a plus in a query is a space, and an encoded one is a plus`() throws {
        let server = try WholeServer()
        try #require(try server.ask("PUT", "/v1/timers/t", #"{"after":"1h","labels":{"plus":"a+x"}}"#).status == 201)
        let found = try ["%2B", "%20", "+"].map { plus in
            try server.ask("GET", "/v1/timers?label=plus%3Da\(plus)x").elements("timers").count
        }
        #expect(found == [1, 0, 0])
    }

    @Test func `lines of one condition are one list`() throws {
        let server = try WholeServer()
        let tag = try #require(
            try server.ask("PUT", "/v1/timers/t", #"{"after":"1h"}"#).header("etag"))
        func suspend(_ tags: String...) throws -> Int {
            let lines = tags.map { "If-Match: \($0)\r\n" }.joined()
            return try server.ask("POST", "/v1/timers/t/suspend", headers: lines).status
        }
        #expect(try suspend("\"v0\"", "\"v00\"") == 412)
        let lines = "If-None-Match: \"v0\"\r\nIf-None-Match: \(tag)\r\n"
        #expect(try server.ask("GET", "/v1/timers/t", headers: lines).status == 304)
        #expect(try suspend("\"v0\"", tag) == 200)
    }
}
