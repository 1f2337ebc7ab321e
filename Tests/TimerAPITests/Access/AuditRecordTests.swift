import Platform
import TestSupport
import Testing
import TimerService

@testable import TimerAPI

/// The requests that have a record in the audit log, and its line.
struct AuditRecordTests {
    private static let token = "first-secret-of-16"
    private let records = Guarded<[AuditRecord]>([])

    private func server(
        tokens: [String] = [], engine: EngineConfiguration = EngineConfiguration()
    ) throws -> WholeServer {
        let records = records
        return try WholeServer(engine: engine) { configuration in
            var access = AccessSettings()
            access.tokens = tokens.map { Array($0.utf8) }
            configuration.access.publish(access)
            configuration.audit = AuditTrail(
                note: { record in records.withLock { $0.append(record) } }, dropped: { 3 })
        }
    }

    /// Method, target and status of each record so far.
    private var seen: [String] {
        records.value.map { record in
            let status = record.status.map { "\($0)" } ?? "none"
            return "\(record.method) \(String(decoding: record.target, as: UTF8.self)) \(status)"
        }
    }

    private func line(_ record: AuditRecord?, dropped: Int = 0) throws -> String {
        String(decoding: try #require(record).line(dropped: dropped), as: UTF8.self)
    }

    @Test func `changes have a record, reads and what has failed have none`() throws {
        let server = try server()
        let requests: [(String, String, String?, Int)] = [
            ("PUT", "/v1/timers/t", #"{"after":"1h"}"#, 201), ("PATCH", "/v1/timers/t", #"{"labels":{"a":"b"}}"#, 200),
            ("POST", "/v1/timers/t/suspend", nil, 200), ("POST", "/v1/timers/t/suspend", nil, 409),
            ("GET", "/v1/timers/t", nil, 200), ("HEAD", "/v1/timers/t", nil, 200), ("OPTIONS", "/v1/timers", nil, 204),
            ("POST", "/v1/schedules/preview", #"{"after":"1h"}"#, 200), ("POST", "/v1/timers", "{}", 400),
            ("GET", "/v1/timers/none", nil, 404), ("GET", "/metrics", nil, 200), ("HEAD", "/v1/export", nil, 200),
            ("PUT", "/v1/timers/t?apply=true&dryRun=true", #"{"after":"2h"}"#, 200),
            ("DELETE", "/v1/timers/t", nil, 204), ("GET", "/v1/export?secrets=true", nil, 200),
        ]
        for (method, target, body, status) in requests {
            let type = method == "PATCH" ? "application/merge-patch+json" : "application/json"
            let answer = try server.ask(method, target, body, type: type)
            #expect(answer.status == status, "\(method) \(target) \(answer.text)")
        }
        let expected = [
            "PUT /v1/timers/t 201", "PATCH /v1/timers/t 200", "POST /v1/timers/t/suspend 200",
            "DELETE /v1/timers/t 204", "GET /v1/export?secrets=true 200",
        ]
        try eventually("the records") { seen == expected }
        #expect(records.value.allSatisfy { !$0.isRefusal && $0.key == nil && $0.peer.hasPrefix("127.0.0.1:") })
    }

    @Test func `refusals for the client have a record, whatever they ask for`() throws {
        let guarded = try server(tokens: [Self.token])
        #expect(try guarded.ask("GET", "/v1/timers").status == 401)
        let headers = "Authorization: Bearer \(Self.token)\r\n"
        let foreign = headers + "Origin: http://evil.example\r\n"
        #expect(try guarded.ask("DELETE", "/v1/timers/t", headers: foreign).status == 403)
        #expect(try guarded.ask("GET", "/nowhere", host: "evil.example", headers: headers).status == 421)
        #expect(try guarded.ask("GET", "/healthz", headers: "Authorization: Bearer wrong\r\n").status == 200)
        #expect(seen == ["GET /v1/timers 401", "DELETE /v1/timers/t 403", "GET /nowhere 421"])
        #expect(records.value.allSatisfy { $0.isRefusal })
        #expect(records.value.map { $0.key.map { String(decoding: $0, as: UTF8.self) } } == [nil, "token", "token"])
    }

    @Test func `a change beyond the limit of timers has a record`() throws {
        var engine = EngineConfiguration()
        engine.maximumTimers = 1
        let server = try server(engine: engine)
        #expect(try server.ask("PUT", "/v1/timers/a", #"{"after":"1h"}"#).status == 201)
        #expect(try server.ask("PUT", "/v1/timers/b", #"{"after":"1h"}"#).status == 429)
        #expect(records.value.map(\.isRefusal) == [false, true])
    }

    @Test(arguments: ["", "?results=brief"])
    func `a batch and a bulk request have one record each, with their counts`(query: String) throws {
        let server = try server()
        let made = #"{"id":"a","after":"1h","labels":{"k":"v"},"payload":[{"status":500},{"text":"\"}],["}]}"#
        let lines = [made, made, #"{"nonsense":1}"#, #"{"command":"delete","id":"none"}"#, #"{"id":"b","after":"1h"}"#]
        let target = "/v1/timers/batch\(query)"
        for (type, body) in [
            ("application/json", "[\(lines.joined(separator: ","))]"),
            ("application/x-ndjson", lines.joined(separator: "\n")), ("application/json", "[]"),
        ] {
            #expect(try server.ask("POST", target, body, type: type).status == 200)
            _ = try server.ask("DELETE", "/v1/timers/b")
        }
        let selector = #"{"labels":{"k":"v"}}"#
        #expect(try server.ask("POST", "/v1/timers/bulk/cancel?dryRun=true", selector).status == 200)
        #expect(try server.ask("POST", "/v1/timers/bulk/cancel", selector).status == 200)
        let counts = records.value.filter { $0.method == "POST" }.map(\.counts)
        #expect(
            counts == [
                .batch(succeeded: 2, failed: 3), .batch(succeeded: 1, failed: 4), .batch(succeeded: 0, failed: 0),
                .bulk(Array(#"{"matched":1,"changed":1,"skipped":0}"#.utf8)),
            ])
        let line = try line(records.value.last)
        #expect(line.hasSuffix(#","counts":{"matched":1,"changed":1,"skipped":0}}"# + "\n"))
    }

    @Test func `a stream has a record where it starts its timer`() throws {
        let server = try server()
        let body = #"{"after":"1h","start":"subscriber"}"#
        #expect(try server.ask("PUT", "/v1/timers/held", body).status == 201)
        let clients = try (0..<2).map { _ in RawClient(port: try server.port) }
        for client in clients {
            client.send("GET /v1/timers/held/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(client.head()?.status == 200)
        }
        #expect(try server.ask("POST", "/v1/timers/held/suspend").status == 200)
        let expected = [
            "GET /v1/timers/held/events 200", "POST /v1/timers/held/suspend 200", "PUT /v1/timers/held 201",
        ]
        try eventually("the records") { seen.sorted() == expected }
    }

    @Test func `the metric says how many lines were dropped`() throws {
        let audited = try server().ask("GET", "/metrics").text
        #expect(audited.contains("\ntimerd_audit_dropped_total 3\n"))
        let other = try WholeServer().ask("GET", "/metrics").text
        #expect(!other.contains("timerd_audit_dropped_total"))
    }

    private func record(_ target: String, key: String? = nil, counts: AuditCounts? = nil) -> AuditRecord {
        AuditRecord(
            at: 1_795_251_600_000, requestID: Array("a\"b".utf8), key: key.map { Array($0.utf8) }, method: "POST",
            target: Array(target.utf8), status: 200, peer: "[::1]:80", counts: counts, isRefusal: false)
    }

    @Test func `a line is one object of JSON`() throws {
        let counts = AuditCounts.batch(succeeded: 2, failed: 1)
        let head = #"{"at":"2026-11-21T09:00:00.000Z","requestId":"a\"b","key":"#
        let tail = #","method":"POST","target":"/v1/timers/batch","status":200,"peer":"[::1]:80""#
        let batch = try line(record("/v1/timers/batch", key: "token", counts: counts))
        #expect(batch == "\(head)\"token\"\(tail),\"counts\":{\"succeeded\":2,\"failed\":1}}\n")
        let other = try line(record("/v1/timers/batch"), dropped: 7)
        #expect(other == "\(head)null\(tail),\"dropped\":7}\n")
        var abandoned = record("/v1/timers/batch")
        abandoned.status = nil
        #expect(try line(abandoned).contains(#","status":null,"#))
        // A client chooses the id of its request.
        abandoned.requestID = Array("tmk_abcdefghijkl_SECRET".utf8)
        #expect(try line(abandoned).contains(#""requestId":"tmk_***""#))
    }

    @Test(arguments: [
        ("/v1/timers?cursor=SECRET", "/v1/timers?cursor="),
        ("/v1/timers?a=b&cursor=SECRET&cursor=SECRET&c", "/v1/timers?a=b&cursor=&cursor=&c"),
        ("/v1/timers?%63urso%72=SECRET%zz", "/v1/timers?%63urso%72="), ("/v1/timers?cursor", "/v1/timers?cursor"),
        ("/v1/timers?cursors=1&=SHOWN", "/v1/timers?cursors=1&=SHOWN"), ("/v1/timers?", "/v1/timers?"),
        ("/cursor=a", "/cursor=a"), ("/v1/timers?%zz=a?b", "/v1/timers?%zz=a?b"), ("*", "*"),
        ("/v1/keys/tmk_abcdefghijkl_SECRET", "/v1/keys/tmk_***"),
        ("/v1/timers?key=tmk_abcdefghijkl_SECRET&a=tmk_&b=tmk_SECRET", "/v1/timers?key=tmk_***&a=tmk_&b=tmk_***"),
    ])
    func `values of cursors and secrets of keys are left out`(target: String, shown: String) throws {
        #expect(try line(record(target)).contains("\"target\":\"\(shown)\""))
    }
}
