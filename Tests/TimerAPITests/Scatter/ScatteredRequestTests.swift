import Platform
import TestSupport
import Testing
import TimerLog
import WireJSON

@testable import TimerAPI

/// Requests about all timers at servers that each own some of the partitions, against a server that owns them all.
@Suite(.serialized) struct ScatteredRequestTests {
    private let time = ManualTime()
    private let volume: MemoryLogVolume
    private let layout: PartitionLayout

    init() throws {
        layout = try #require(PartitionLayout(strided: 16))
        volume = MemoryLogVolume(layout)
    }

    /// Partitions dealt out in turn.
    private func dealt(among servers: Int) -> [[Int]] {
        (0..<servers).map { server in (0..<layout.count).filter { $0 % servers == server } }
    }

    private func serve<Result>(_ owned: [[Int]], _ body: (ServerGroup) throws -> Result) throws -> Result {
        let group = try ServerGroup(volume, time, owned: owned)
        defer { group.stop() }
        return try body(group)
    }

    private static func batch(_ count: Int) -> String {
        (0..<count).map { index in
            #"{"id":"t\#(index)","after":"\#(index % 40 + 1)s","labels":{"k":"\#(index % 3)"}}"#
        }.joined(separator: "\n") + "\n"
    }

    private static let lines = "application/x-ndjson"

    /// The pages of a list, each without the cursor of the next one.
    private func pages(_ group: ServerGroup, _ server: Int, _ path: String) throws -> [[String]] {
        var pages: [[String]] = []
        var cursor = ""
        while pages.count < 500 {
            let answer = try group.ask(server, "GET", path + cursor)
            try #require(answer.status == 200, "\(answer.text)")
            var document = JSONDocument()
            try document.parse(answer.body)
            let list = try #require(document.firstChild(document.root))
            pages.append(
                document.children(of: list).map { node in
                    var text: [UInt8] = []
                    document.appendCompact(node, to: &text)
                    return String(decoding: text, as: UTF8.self)
                })
            let next = try #require(document.member(document.root, "next"))
            #expect((document.kind(next) == .null) == (answer.header("link") == nil))
            guard document.kind(next) == .string else { return pages }
            cursor =
                (path.contains("?") ? "&" : "?") + "cursor=" + String(decoding: document.string(next), as: UTF8.self)
        }
        return pages
    }

    @Test func `lists are those of a server that owns all`() throws {
        let paths = [
            "/v1/timers?limit=1000", "/v1/timers?limit=1", "/v1/timers?limit=7", "/v1/timers?limit=60",
            "/v1/timers?limit=5&label=k%3D1", "/v1/timers?idPrefix=t1&limit=9", "/v1/timers?state=cancelled",
            "/v1/timers?sort=nextFireAt&limit=7", "/v1/timers?sort=nextFireAt&limit=1000",
            "/v1/timers?sort=nextFireAt&limit=3&label=k%3D2",
        ]
        let (spread, forward) = try serve(dealt(among: 3)) { group in
            let made = try group.ask(1, "POST", "/v1/timers/batch", Self.batch(60), type: Self.lines)
            try #require(made.status == 200, "\(made.text)")
            #expect((0..<3).allSatisfy { group.timers(of: $0) > 0 })
            return (try paths.map { try pages(group, 0, $0) }, try paths.map { try pages(group, 2, $0) })
        }
        let whole = try serve([Array(0..<16)]) { group in try paths.map { try pages(group, 0, $0) } }
        for (index, path) in paths.enumerated() {
            #expect(spread[index].flatMap { $0 } == whole[index].flatMap { $0 }, "\(path)")
            #expect(spread[index] == forward[index], "\(path)")
            // A filtered page by due instants may be shorter, a last page may be empty.
            if !path.contains("sort=nextFireAt&limit=3") {
                #expect(spread[index].filter { !$0.isEmpty } == whole[index].filter { !$0.isEmpty }, "\(path)")
            }
        }
    }

    @Test func `the results of a batch are in the order of its lines`() throws {
        let body =
            Self.batch(40) + """
                {"after":"5s"}
                {"command":"suspend","id":"t3"}
                {"id":"t4","after":"1s"}
                {"command":"dance","id":"t4"}

                nonsense
                {"command":"delete","id":"t5"}
                {"after":"6s"}
                """
        let answer = try serve(dealt(among: 3)) { group in
            try group.ask(0, "POST", "/v1/timers/batch?results=brief", body, type: Self.lines)
        }
        let results = answer.text.split(separator: "\n").map(String.init)
        try #require(answer.status == 200 && answer.header("content-type") == Self.lines && results.count == 47)
        for line in 0..<40 { #expect(results[line] == #"{"status":201,"id":"t\#(line)","version":1}"#) }
        let starts = [40: 201, 41: 200, 42: 409, 43: 400, 44: 400, 45: 204, 46: 201]
        for (line, status) in starts { #expect(results[line].contains(#""status":\#(status)"#), "\(results[line])") }
        #expect(results[40] != results[46] && results[42].contains(#""requestId":"test""#))
    }

    @Test func `a batch with a key is carried out once, however partitions are spread`() throws {
        let body = Self.batch(30) + #"{"after":"5s"}"# + "\n" + #"{"after":"7s"}"# + "\n"
        func send(_ group: ServerGroup, _ server: Int, _ body: String) throws -> RawClient.Answer {
            try group.ask(server, "POST", "/v1/timers/batch?results=brief", body, key: "tea", type: Self.lines)
        }
        let first = try serve(dealt(among: 3)) { group in
            let first = try send(group, 0, body)
            let again = try send(group, 1, body)
            #expect(again.text == first.text && again.header("idempotency-replayed") == "true")
            return first
        }
        #expect(first.status == 200 && first.header("idempotency-replayed") == nil)
        try serve(dealt(among: 2)) { group in
            let again = try send(group, 1, body)
            #expect(again.text == first.text && again.header("idempotency-replayed") == "true")
            // The part with the key's own partition is asked first.
            let other = try send(group, 0, Self.batch(3).replacing("t", with: "u"))
            #expect(other.status == 422 && other.text.contains("idempotency-mismatch"), "\(other.text)")
            #expect((0..<2).map { group.timers(of: $0) }.reduce(0, +) == 32)
        }
        try serve([Array(0..<16)]) { group in
            let again = try send(group, 0, body)
            #expect(again.text == first.text && again.header("idempotency-replayed") == "true")
        }
    }

    @Test func `bulk commands count over all servers, once for a key`() throws {
        func suspend(_ group: ServerGroup, _ server: Int, dry: Bool = false) throws -> RawClient.Answer {
            try group.ask(
                server, "POST", "/v1/timers/bulk/suspend" + (dry ? "?dryRun=true" : ""), #"{"labels":{"k":"1"}}"#,
                key: dry ? nil : "halt")
        }
        let counts = #"{"matched":20,"changed":20,"skipped":0}"#
        try serve(dealt(among: 3)) { group in
            _ = try group.ask(0, "POST", "/v1/timers/batch", Self.batch(60), type: Self.lines)
            let dry = try suspend(group, 2, dry: true)
            #expect(dry.text == counts)
            let first = try suspend(group, 0)
            #expect(first.text == counts && first.header("idempotency-replayed") == nil)
            let again = try suspend(group, 1)
            #expect(again.text == counts && again.header("idempotency-replayed") == "true")
        }
        try serve(dealt(among: 2)) { group in
            let again = try suspend(group, 1)
            #expect(again.text == counts && again.header("idempotency-replayed") == "true")
            #expect(try suspend(group, 0, dry: true).text == #"{"matched":20,"changed":0,"skipped":20}"#)
        }
        try serve([Array(0..<16)]) { group in
            let again = try suspend(group, 0)
            #expect(again.text == counts && again.header("idempotency-replayed") == "true")
        }
    }

    @Test func `stats, drains and heads are of all servers`() throws {
        try serve(dealt(among: 3)) { group in
            _ = try group.ask(0, "POST", "/v1/timers/batch", Self.batch(60), type: Self.lines)
            for server in 0..<3 {
                let stats = try group.ask(server, "GET", "/v1/stats")
                #expect(
                    stats.text.contains(#""running":60"#) && stats.text.contains(#""drained":false"#), "\(stats.text)")
            }
            let page = try group.ask(0, "GET", "/v1/timers?limit=5")
            let head = try group.ask(0, "HEAD", "/v1/timers?limit=5")
            #expect(
                head.header("content-length") == String(page.body.count) && head.header("link") == page.header("link"))
            #expect(try group.ask(1, "POST", "/v1/drain").text == #"{"drained":true,"attemptsUnderWay":0}"#)
            for server in 0..<3 {
                let refused = try group.ask(server, "POST", "/v1/timers", #"{"after":"1s"}"#)
                #expect(refused.status == 503 && refused.text.contains("drained"), "\(refused.text)")
            }
            #expect(try group.ask(0, "DELETE", "/v1/drain").text == #"{"drained":false,"attemptsUnderWay":0}"#)
            #expect(try group.ask(2, "POST", "/v1/timers", #"{"after":"1s"}"#).status == 201)
        }
    }

    @Test func `a timer without an id is made by the server that was asked`() throws {
        try serve(dealt(among: 3)) { group in
            for _ in 0..<20 {
                let made = try group.ask(1, "POST", "/v1/timers", #"{"after":"1s"}"#)
                #expect(made.status == 201)
            }
            #expect((0..<3).map { group.timers(of: $0) } == [0, 20, 0])
        }
    }

    @Test func `a part at a server that no longer owns its partitions is split and sent again`() throws {
        try serve(dealt(among: 3)) { group in
            _ = try group.ask(0, "POST", "/v1/timers/batch", Self.batch(60), type: Self.lines)
            let kept = try group.ask(
                2, "POST", "/v1/timers/batch?results=brief", Self.batch(61), key: "tea", type: Self.lines)
            let before = try group.ask(0, "GET", "/v1/timers?limit=1000").text
            try group.move(4, to: 2)
            // Server 0 still takes server 1 for the owner of partition 4.
            let answer = Guarded("")
            let port = try group.port(of: 0)
            let request = Background {
                let text = RawClient(port: port).get("/v1/timers?limit=1000")?.text
                answer.withLock { $0 = text ?? "none" }
            }
            try eventually("server 1 refuses the part") {
                try group.ask(1, "GET", "/metrics").text.contains(#"code="421""#)
            }
            group.publish(to: 0)
            try request.finish("the list")
            #expect(answer.withLock { $0 } == before)
            let again = try group.ask(
                0, "POST", "/v1/timers/batch?results=brief", Self.batch(61), key: "tea", type: Self.lines)
            #expect(again.text == kept.text && again.header("idempotency-replayed") == "true")
            // Server 2 loses one of its own, which it still answers for in parts.
            try group.move(2, to: 1)
            group.publish(to: 2)
            #expect(try group.ask(2, "GET", "/v1/timers?limit=1000").text == before)
        }
    }

    @Test func `deliveries are listed oldest first, and redriven once for a key`() throws {
        let paths = [
            "/v1/deliveries?limit=1000", "/v1/deliveries?limit=7", "/v1/deliveries?timer=t4",
            "/v1/deliveries?state=dead",
        ]
        func redrive(_ group: ServerGroup, _ server: Int) throws -> String {
            let timer = try group.ask(
                server, "POST", "/v1/deliveries/redrive", #"{"timer":"t4"}"#, key: "again-\(server)")
            let labels = try group.ask(server, "POST", "/v1/deliveries/redrive", #"{"labels":{"k":"1"}}"#)
            return timer.text + labels.text
        }
        let (first, second, counts) = try serve(dealt(among: 3)) { group in
            for index in 0..<20 {
                let body = #"{"after":"1h","labels":{"k":"1"},"webhook":{"url":"http://example.com/hook"}}"#
                let made = try group.ask(index % 3, "PUT", "/v1/timers/t\(index)", body)
                try #require(made.status == 201, "\(made.text)")
                // Another instant gives another place in the order.
                time.pass(milliseconds: 5)
                try #require(try group.ask(0, "POST", "/v1/timers/t\(index)/fire").status == 200)
            }
            return (
                try paths.map { try pages(group, 0, $0) }, try paths.map { try pages(group, 1, $0) },
                try redrive(group, 2)
            )
        }
        let whole = try serve([Array(0..<16)]) { group in
            #expect(try redrive(group, 0) == counts)
            return try paths.map { try pages(group, 0, $0) }
        }
        #expect(first == whole && second == whole)
        #expect(whole[0][0].count == 20 && whole[1].map(\.count) == [7, 7, 6] && whole[2][0].count == 1)
        #expect(counts == String(repeating: #"{"matched":0,"changed":0,"skipped":0}"#, count: 2))
    }

    @Test func `clients can't name parts or fingerprints`() throws {
        try serve(dealt(among: 3)) { group in
            _ = try group.ask(0, "POST", "/v1/timers/batch", Self.batch(30), type: Self.lines)
            let plain = try group.ask(0, "GET", "/v1/timers")
            let named = try group.ask(0, "GET", "/v1/timers", headers: "Timerd-Partitions: 0001\r\n")
            #expect(named.text == plain.text)
            for index in 0..<6 {
                let header = "Timerd-Fingerprint: \(String(repeating: "0", count: 32))\r\n"
                let key = "key\(index)"
                let first = try group.ask(
                    0, "POST", "/v1/timers", #"{"after":"1s"}"#, key: key, headers: header)
                let other = try group.ask(
                    0, "POST", "/v1/timers", #"{"after":"2s"}"#, key: key, headers: header)
                #expect(first.status == 201 && other.status == 422)
            }
        }
    }

    @Test func `a part that fails after others leaves the outcome unknown, and with a key can be repeated`() throws {
        try serve(dealt(among: 3)) { group in
            _ = try group.ask(0, "POST", "/v1/timers/batch", Self.batch(60), type: Self.lines)
            group.drain(2)
            let bulk = "/v1/timers/bulk/suspend"
            let cut = try group.ask(0, "POST", bulk, #"{"labels":{"k":"1"}}"#)
            #expect(cut.status == 503 && cut.text.contains(#""outcome":"unknown""#), "\(cut.text)")
            group.drain(2, back: true)
            let again = try group.ask(0, "POST", bulk, #"{"labels":{"k":"1"}}"#)
            #expect(
                again.status == 200 && again.text.hasPrefix(#"{"matched":20,"#) && !again.text.contains(#""skipped":0"#)
            )
        }
    }

    @Test func `a head that is as large as may be has room for what servers add`() throws {
        try serve(dealt(among: 3)) { group in
            let filler = "X-Filler: \(String(repeating: "x", count: 8000))\r\n"
            let answer = try group.ask(0, "GET", "/v1/timers", headers: filler)
            #expect(answer.status == 200, "\(answer.text)")
        }
    }
}
