import HTTPServer
import Platform
import TestSupport
import Testing

@testable import TimerAPI

/// The names under which the server may be asked. `GateTests` has the forms of rules, addresses and ports.
struct HostCheckTests {
    private static let local = [
        "127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:1234", "[::1]", "[::1]:99", "[::ffff:10.0.0.1]:80",
        "192.168.0.7", "timerd", "timerd:8080", "my_timers", "localhost:",
    ]
    private static let foreign = [
        "evil.example", "EVIL.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1.nip.io",
        "xlocalhost.", "localhost.", "127.0.0.1.", "127.0.0.1:80:80", "127.0.0.1:http", "[fe80::1%25eth0]", "[::1",
        "[evil.example]", "[]", ":80", "", "evil%2eexample", "a'b",
    ]

    /// A server that listens on the loopback, then on every address.
    private func server(_ configure: (inout APIConfiguration) -> Void = { _ in }) throws -> WholeServer {
        try WholeServer { configuration in
            configuration.listeners.append(.tcp(host: "0.0.0.0", port: 0))
            configure(&configuration)
        }
    }

    @Test func `addresses and names without a dot are the server's, on every listener`() throws {
        let server = try server()
        for host in Self.local {
            for listener in [0, 1] {
                let answer = try server.ask("GET", "/v1/timers?limit=1", host: host, listener: listener)
                #expect(answer.status == 200, "\(host)")
            }
        }
    }

    @Test func `another name is misdirected, whatever is asked for and whatever the origin`() throws {
        let server = try server()
        let requests: [(String, String, String?)] = [
            ("GET", "/v1/timers", nil), ("GET", "/v1/events", nil), ("POST", "/v1/timers", #"{"after":"1h"}"#),
            ("OPTIONS", "/v1/timers", nil), ("GET", "/v1/nowhere", nil), ("GET", "/", nil),
        ]
        for host in Self.foreign {
            // The server has the same origin as a page under a name whose DNS was changed to lead here.
            let headers = "Origin: http://\(host)\r\nSec-Fetch-Site: same-origin\r\n"
            for (method, target, body) in requests {
                for listener in [0, 1] {
                    let answer = try server.ask(method, target, body, host: host, headers: headers, listener: listener)
                    #expect(answer.status == 421, "\(method) \(target), \(host)")
                    #expect(answer.problem(at: target) == "misdirected", "\(method) \(target), \(host)")
                }
            }
        }
    }

    @Test func `a refused name is reported, without its port`() throws {
        let reported = Guarded<[String]>([])
        let server = try server { $0.hostRefused = { name in reported.withLock { $0.append(name) } } }
        for _ in 0..<3 {
            let answer = try server.ask("GET", "/v1/timers", host: "Timers.example:8080")
            let detail = try #require(answer["detail"])
            #expect(detail.contains("`--allow-host timers.example`"))
        }
        #expect(reported.withLock { $0.contains("timers.example") })
    }

    @Test(arguments: [("evil.example", 421), ("127.0.0.1", 204), ("timerd", 204)])
    func `OPTIONS of the whole server is no exception`(host: String, status: Int) throws {
        let server = try server()
        for listener in [0, 1] {
            #expect(try server.ask("OPTIONS", "*", host: host, listener: listener).status == status)
        }
    }

    @Test(arguments: [
        ("http://evil.example/v1/stats", "127.0.0.1", 421), ("http://evil.example:80/v1/timers", "127.0.0.1", 421),
        ("http://127.0.0.1/v1/timers?limit=1", "127.0.0.1", 200), ("http://127.0.0.1/v1/stats", "evil.example", 200),
        ("http://127.0.0.1@evil.example/v1/timers", "127.0.0.1", 400),
    ])
    func `an absolute target alone says which server is meant`(target: String, host: String, status: Int) throws {
        #expect(try server().ask("GET", target, host: host).status == status)
    }

    @Test func `health checks come under any name`() throws {
        let server = try server()
        for target in ["/healthz", "/readyz"] {
            for listener in [0, 1] {
                #expect(try server.ask("GET", target, host: "evil.example", listener: listener).status == 200)
            }
        }
    }

    @Test func `a request without a host passes`() throws {
        let server = try server()
        let client = RawClient(port: try server.port(of: 1))
        client.send("GET /v1/timers?limit=1 HTTP/1.0\r\n\r\n")
        #expect(client.answer()?.status == 200)
        server.stop()
    }

    @Test func `what a proxy says is not read`() throws {
        let server = try server()
        for name in ["Forwarded", "X-Forwarded-Host", "X-Forwarded-For", "X-Forwarded-Proto"] {
            let own = try server.ask("GET", "/v1/stats", host: "evil.example", headers: "\(name): 127.0.0.1\r\n")
            #expect(own.problem(at: "/v1/stats") == "misdirected", "\(name)")
            #expect(try server.ask("GET", "/v1/stats", headers: "\(name): evil.example\r\n").status == 200, "\(name)")
        }
    }

    @Test func `allowed names are the server's, on every listener`() throws {
        let rules = try ["timers.example", ".SVC.cluster.local"].map { try #require(HostRule($0)) }
        let server = try server { $0.allowedHosts = rules }
        let allowed = [
            "timers.example", "Timers.Example:8080", "timerd.default.svc.cluster.local", "a.svc.cluster.local:80",
        ]
        let refused = [
            "other.example", "a.timers.example", "timers.example.", "svc.cluster.local",
            ".svc.cluster.local.evil.example", "xsvc.cluster.local", "timers.example.evil.example",
        ]
        for listener in [0, 1] {
            for host in allowed {
                #expect(try server.ask("GET", "/v1/stats", host: host, listener: listener).status == 200, "\(host)")
            }
            for host in refused {
                #expect(try server.ask("GET", "/v1/stats", host: host, listener: listener).status == 421, "\(host)")
            }
        }
    }

    @Test func `where a token is needed only loopback listeners check the name`() throws {
        var access = AccessSettings()
        access.tokens = [Array("0123456789abcdef".utf8)]
        let server = try server { $0.access.publish(access) }
        let headers = "Authorization: Bearer 0123456789abcdef\r\nOrigin: http://timers.example\r\n"
        let statuses = try [0, 1].map { listener in
            try server.ask(
                "POST", "/v1/timers", #"{"after":"1h"}"#, host: "timers.example", headers: headers, listener: listener
            ).status
        }
        #expect(statuses == [421, 201])
    }

    @Test func `a Unix socket is asked under any name`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        let server = try WholeServer { $0.listeners = [.unix(path: path)] }
        let client = RawClient(path: path)
        #expect(client.get("/v1/stats", headers: "Origin: http://evil.example\r\n")?.status == 200)
        client.send("GET /v1/stats HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        #expect(client.answer()?.status == 200)
        server.stop()
    }
}
