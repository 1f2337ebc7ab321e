import HTTPServer
import Platform
import TestSupport
import Testing

@testable import TimerAPI

/// The access log, and the metrics of requests that no route answers.
struct RefusedHeadTests {
    private let records = Guarded<[AccessRecord]>([])

    /// A server that writes an access log.
    private func server() throws -> WholeServer {
        let records = records
        return try WholeServer { configuration in
            var access = AccessSettings()
            access.logsRequests = true
            configuration.access.publish(access)
            configuration.accessLog = { record in records.withLock { $0.append(record) } }
        }
    }

    @Test func `a secret that comes by mistake is not logged`() throws {
        let server = try server()
        let secret = "tmk_abcdefghijkl_SECRET"
        _ = try server.ask("PUT", "/v1/timers/tea", #"{"after":"1h"}"#)
        let wait = "/v1/timers/tea/wait?timeout=1ms"
        for target in ["/v1/timers/\(secret)?a=\(secret)", "\(wait)&a=\(secret)", wait] {
            let client = RawClient(port: try server.port)
            client.send(Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\nRequest-Id: \(secret)\r\n\r\n".utf8))
            #expect(client.answer() != nil, "\(target)")
        }
        let shown = records.value
        #expect(shown.count == 4 && shown.dropFirst().allSatisfy { $0.requestID == "tmk_***" })
        let targets = ["/v1/timers/tea", "/v1/timers/tmk_***?a=tmk_***", "\(wait)&a=tmk_***", wait]
        #expect(shown.map(\.target) == targets)
    }

    @Test func `a method that is no word is refused, and is no danger to a log`() throws {
        let server = try server()
        let methods: [[UInt8]] = [
            Array("G\u{1}T".utf8), Array("GE\u{1B}[31mT".utf8), [0x7F], Array("G(T".utf8), [0x80, 0x9B],
        ]
        for method in methods {
            for target in [Array("/healthz".utf8), Array("/healthz".utf8) + [0x9B]] {
                let client = RawClient(port: try server.port)
                client.send(method + [0x20] + target + Array(" HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                #expect(client.answer()?.status == 400, "\(method)")
            }
        }
        #expect(try server.ask("GET", "/healthz").status == 200)
        let shown = records.value
        #expect(shown.filter { $0.status == 400 }.count == 2 * methods.count)
        #expect(shown.allSatisfy { "\($0.method)\($0.target)".utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
    }

    @Test func `paths that lead nowhere share one label`() throws {
        let server = try WholeServer()
        for target in ["/nowhere", "/v1/timers/a/b/c", "/v1/timers/x/explode", "/v2", "/v1/timers/%zz"] {
            #expect([400, 404].contains(try server.ask("GET", target).status))
        }
        #expect(try server.ask("OPTIONS", "*").status == 204)
        let long = "X: \(String(repeating: "x", count: 9000))\r\n"
        #expect(try server.ask("GET", "/healthz", headers: long).status == 431)
        let lines = try server.ask("GET", "/metrics").text.split(separator: "\n")
        let counts = lines.filter { $0.hasPrefix("timerd_http_requests_total{") }
        #expect(!counts.isEmpty && counts.allSatisfy { $0.contains("route=\"other\"") })
        #expect(counts.compactMap { Int($0.split(separator: " ").last ?? "") }.reduce(0, +) == 7)
        let timed = lines.filter { $0.hasPrefix("timerd_http_request_seconds_count{") }
        #expect(timed.allSatisfy { $0.contains("route=\"other\"") || $0.contains("route=\"/metrics\"") })
    }
}
