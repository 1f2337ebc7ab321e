import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// GET /v1/timers.
@Suite(.serialized) struct ListingTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    private func ids(_ answer: RawClient.Answer) -> [String] {
        answer.elements("timers").compactMap { $0["id"] }
    }

    private func list(_ query: String) throws -> [String] {
        let answer = try server.ask("GET", "/v1/timers?" + query)
        #expect(answer.status == 200, "\(query): \(answer.text)")
        return ids(answer)
    }

    /// Reads all pages by their links, or by their cursors, and calls `between` after each. Returns the ids.
    private func walk(_ query: String, byLink: Bool = true, between: (Int) throws -> Void = { _ in }) throws -> [String]
    {
        var seen: [String] = []
        var target = "/v1/timers?" + query
        for page in 0..<1000 {
            let answer = try server.ask("GET", target)
            seen += ids(answer)
            guard let next = answer["next"], next != "null" else {
                #expect(answer.header("link") == nil)
                return seen
            }
            let link = try #require(answer.header("link"))
            #expect(link.hasPrefix("<") && link.hasSuffix(">; rel=\"next\"") && link.count { "<>".contains($0) } == 2)
            target = byLink ? String(link.dropFirst().prefix { $0 != ">" }) : "/v1/timers?\(query)&cursor=\(next)"
            try between(page)
        }
        Issue.record("the walk does not end")
        return seen
    }

    private func make(_ id: String, _ fields: String) throws { try server.make(#"{"id":"\#(id)",\#(fields)}"#) }

    @Test func `a page has whole timers`() throws {
        try server.make("t", in: .running)
        let timer = try server.timer("t")
        #expect(try server.ask("GET", "/v1/timers").text == #"{"timers":[\#(timer)],"next":null}"#)
    }

    @Test func `filters narrow a page down`() throws {
        for state in TimerState.allCases { try server.make("\(state.name)", in: state, #""labels":{"a":"1"}"#) }
        try make("every", #""every":"30m","labels":{"a":"1","tier":"gold"}"#)
        try make("cron", #""cron":"@yearly","labels":{"a":"1","tier":"golden"}"#)
        try make("dog", #""watchdog":"2h""#)
        let rows = [
            ("label=a%3D1", "cancelled completed cron every idle running suspended"),
            ("label=a%3D1&label=tier%3Dgold", "every"),
            ("label=tier%3Dgol", ""), ("state=idle", "idle"), ("state=suspended", "suspended"),
            ("state=cancelled", "cancelled"), ("state=idle,completed", "completed idle"),
            ("state=running&label=a%3D1", "cron every running"), ("kind=oneShot&state=running", "running"),
            ("kind=repeating,cron", "cron every"), ("kind=watchdog", "dog"), ("health=ok", "dog"),
            ("health=stalled", ""), ("dueBefore=2023-11-14T22:43:20.001Z", "every"),
            ("dueBefore=2023-11-14T22:43:20.000Z", ""), ("idPrefix=c", "cancelled completed cron"),
            ("idPrefix=c&sort=nextFireAt", "cron"), ("idPrefix=c&state=completed", "completed"),
            ("kind=cron&dueBefore=2024-01-01T00:00:00.001Z", "cron"),
            ("kind=cron,watchdog&sort=nextFireAt", "cron dog"),
        ]
        for (query, expected) in rows {
            #expect(try list(query).sorted().joined(separator: " ") == expected, "\(query)")
            #expect(try walk(query + "&limit=1").sorted().joined(separator: " ") == expected, "\(query)")
        }
    }

    @Test func `the soonest come first, without those that plan no fire`() throws {
        for minutes in [50, 10, 30, 20, 40] { try make("m\(minutes)", #""after":"\#(minutes)m""#) }
        try server.make("suspended", in: .suspended)
        try server.make("idle", in: .idle)
        let expected = ["m10", "m20", "m30", "m40", "m50"]
        #expect(try list("sort=nextFireAt") == expected)
        #expect(try walk("sort=nextFireAt&limit=2") == expected)
        #expect(try walk("sort=nextFireAt&limit=2", byLink: false) == expected)
    }

    @Test func `a label's value is decoded`() throws {
        for (index, (value, query)) in [
            ("=", "%3D"), (" a&b", "+a%26b"), ("é", "%C3%A9"), ("%41", "%2541"), ("+", "%2B"), ("/?#", "%2F%3F%23"),
            (">, <", ">,%20<"),
        ].enumerated() {
            for copy in 0..<3 { try make("t\(index)-\(copy)", #""after":"1h","labels":{"k":"x\#(value)"}"#) }
            let expected = (0..<3).map { "t\(index)-\($0)" }
            #expect(try list("label=k%3Dx\(query)").sorted() == expected, "\(value)")
            #expect(try walk("label=k%3Dx\(query)&limit=1").sorted() == expected, "\(value)")
        }
    }

    @Test func `a page is 100 timers unless told, and 1000 at most`() throws {
        let lines = String(repeating: "{\"after\":\"1h\"}\n", count: 1100)
        _ = try server.ask("POST", "/v1/timers/batch?results=brief", lines, type: "application/x-ndjson")
        #expect(try list("").count == 100)
        #expect(try list("limit=1000").count == 1000)
        let walked = try walk("limit=1000")
        #expect(walked.count == 1100 && Set(walked).count == 1100)
    }

    @Test func `a page that is gathered in several steps ends the walk`() throws {
        let count = APILimits.examinedPerStep + 100
        let lines = String(repeating: "{\"after\":\"1h\",\"labels\":{\"a\":\"1\"}}\n", count: count)
        _ = try server.ask("POST", "/v1/timers/batch?results=brief", lines, type: "application/x-ndjson")
        let page = try server.ask("GET", "/v1/timers?limit=1000&label=a%3D1")
        #expect(ids(page).count == count && page["next"] == "null")
    }

    @Test func `a page looks at a bounded number of timers, and at those that alarm alone`() throws {
        for part in 0..<3 {
            let lines = (0..<7000).map { "{\"id\":\"a-\(part)-\($0)\",\"watchdog\":\"1h\"}\n" }.joined()
            let query = "results=brief"
            let made = try server.ask("POST", "/v1/timers/batch?\(query)", lines, type: "application/x-ndjson")
            try #require(made.status == 200)
        }
        try make("b", #""watchdog":"500ms""#)
        let looks = 3 * 7000 + 1
        var (pages, found) = (1, [String]())
        found = try walk("idPrefix=b&limit=1000") { _ in pages += 1 }
        #expect(found == ["b"] && pages == (looks + APILimits.examinedForPrefix - 1) / APILimits.examinedForPrefix)
        server.time.pass(milliseconds: 500)
        #expect(try server.ask("GET", "/v1/timers/b/wait?since=0&timeout=60s").status == 200)
        try #require(looks > APILimits.examinedPerPage)
        let page = try server.ask("GET", "/v1/timers?health=stalled")
        #expect(ids(page) == ["b"] && page["next"] == "null")
    }

    @Test(arguments: ["", "sort=nextFireAt&"])
    func `a walk has each timer that lasts once, whatever changes meanwhile`(order: String) throws {
        for index in 0..<40 { try make("stay\(index)", #""after":"2h""#) }
        for index in 0..<20 { try make("go\(index)", #""after":"1h""#) }
        let seen = try walk(order + "limit=7") { page in
            try make("come\(page)", #""after":"3h""#)
            if page < 20 { _ = try server.ask("DELETE", "/v1/timers/go\(page)") }
            _ = try server.ask("PATCH", "/v1/timers/stay\(page)", #"{"labels":{"page":"\#(page)"}}"#)
        }
        #expect(Set(seen).count == seen.count)
        #expect(Set(seen).isSuperset(of: (0..<40).map { "stay\($0)" }))
    }

    @Test func `a parameter that can't be is named`() throws {
        for (query, name) in [
            ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("limit=-1", "limit"),
            ("limit=", "limit"),
            ("limit=1&limit=2", "limit"), ("state=asleep", "state"), ("state=idle,", "state"),
            ("kind=sometimes", "kind"),
            ("sort=id", "sort"), ("label=novalue", "label"), ("label=a%20b%3Dx", "label"),
            ("cursor=garbage!", "cursor"),
            ("dueBefore=soon", "dueBefore"), ("dueBefore=2099-01-01T00:00:00", "dueBefore"),
            ("health=stalled,ok", "health"), ("health=sick", "health"), ("health=", "health"),
            ("idPrefix=", "idPrefix"),
            ("idPrefix=a%20b", "idPrefix"), ("idPrefix=\(String(repeating: "x", count: 129))", "idPrefix"),
            ("idPrefix=a&idPrefix=b", "idPrefix"),
        ] {
            #expect(try server.ask("GET", "/v1/timers?\(query)").verdict == "400 invalid-request ?\(name)", "\(query)")
        }
    }
}
