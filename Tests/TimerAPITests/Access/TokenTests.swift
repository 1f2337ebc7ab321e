import Platform
import TestSupport
import Testing

@testable import TimerAPI

/// Bearer tokens: their forms, the requests that need one, and those that are refused before it is asked for.
struct TokenTests {
    private static let tokens = ["first-secret-of-16", "second-secret-of-2"]

    private func server() throws -> WholeServer {
        var access = AccessSettings()
        access.tokens = Self.tokens.map { Array($0.utf8) }
        return try WholeServer { $0.access.publish(access) }
    }

    private func authorization(_ value: String) -> String { "Authorization: \(value)\r\n" }

    @Test func `each token opens the API, by any spelling of the scheme`() throws {
        let server = try server()
        for scheme in ["Bearer", "bearer", "BEARER"] {
            for token in Self.tokens {
                let headers = authorization("\(scheme) \(token)")
                #expect(try server.ask("POST", "/v1/timers", #"{"after":"1h"}"#, headers: headers).status == 201)
                #expect(try server.ask("GET", "/v1/timers", headers: headers).status == 200)
            }
        }
    }

    @Test func `anything else is refused`() throws {
        let server = try server()
        let values = [
            "", "Bearer", "Bearer ", "Bearer wrong", "Bearer first-secret-of-16x", "Bearer first-secret-of-1",
            "first-secret-of-16", "Basic Zmlyc3Qtc2VjcmV0", "Bearer first-secret-of-16\tsecond-secret-of-2",
            "Bearer first-secret-of-16 second-secret-of-2", "Bearer first-secret-of-16,second-secret-of-2",
            "Bearer #third-secret-of-three", "Bearer FIRST-SECRET-OF-16",
        ]
        for headers in [""] + values.map(authorization) {
            let answer = try server.ask("GET", "/v1/timers", headers: headers)
            #expect(answer.status == 401, "\(headers)")
            #expect(answer.problem(at: "/v1/timers") == "unauthorized", "\(headers)")
            #expect(answer.header("www-authenticate")?.hasPrefix("Bearer") == true, "\(headers)")
        }
    }

    @Test func `the token is asked for before anything else`() throws {
        let server = try server()
        let requests: [(String, String)] = [
            ("GET", "/v1/timers"), ("POST", "/v1/timers"), ("GET", "/v1/events"), ("GET", "/metrics"),
            ("GET", "/v1/stats"), ("GET", "/v1/keys/self"), ("GET", "/nowhere"), ("BREW", "/v1/timers"),
            ("OPTIONS", "/v1/timers"), ("OPTIONS", "*"), ("GET", "/problems/no-such/thing"), ("GET", "/v1/timers/%zz"),
        ]
        for (method, target) in requests {
            let headers = "Origin: http://evil.example\r\n"
            let answer = try server.ask(method, target, host: "evil.example", headers: headers)
            #expect(answer.status == 401, "\(method) \(target)")
            #expect(answer.problem(at: target) == "unauthorized", "\(method) \(target)")
        }
    }

    @Test func `the host is judged after the token, then the origin, then the path`() throws {
        let server = try server()
        let headers = authorization("Bearer \(Self.tokens[0])") + "Origin: http://other.example\r\n"
        let misdirected = try server.ask("POST", "/nowhere", "{}", host: "evil.example", headers: headers)
        #expect(misdirected.status == 421)
        #expect(misdirected.problem(at: "/nowhere") == "misdirected")
        let foreign = try server.ask("POST", "/nowhere", "{}", headers: headers)
        #expect(foreign.status == 403)
        #expect(foreign.problem(at: "/nowhere") == "cross-origin")
    }

    @Test func `a refusal says what to send, and does not show what was sent`() throws {
        let server = try server()
        let key = "tmk_" + String(repeating: "a", count: 12) + "_" + String(repeating: "b", count: 48)
        let cases = [
            ("", "send `Authorization: Bearer`"),
            (authorization("Basic Zmlyc3Qtc2VjcmV0"), "send `Authorization: Bearer`"),
            (authorization("Bearer wrong"), "not known"), (authorization("Bearer \(key)"), "not known"),
        ]
        for (headers, said) in cases {
            let answer = try server.ask("GET", "/v1/timers", headers: headers)
            #expect(answer.status == 401 && answer.text.contains(said), "\(headers)")
            for sent in ["Zmlyc3", "wrong", "bbbb"] { #expect(!answer.text.contains(sent), "\(headers)") }
        }
    }

    @Test func `an open request before it on the connection lets no other one in`() throws {
        let server = try server()
        for headers in ["", authorization(""), authorization("Bearer"), authorization("\t")] {
            let client = RawClient(port: try server.port(of: 0))
            for open in ["/healthz", "/", "/docs"] {
                #expect(client.get(open, headers: headers)?.status == 200)
                #expect(client.get("/v1/timers", headers: headers)?.status == 401, "\(open), \(headers)")
            }
            #expect(client.get("/v1/timers", headers: authorization("Bearer \(Self.tokens[0])"))?.status == 200)
            #expect(client.get("/v1/timers", headers: headers)?.status == 401, "\(headers)")
        }
    }

    @Test func `a request without a token changes nothing`() throws {
        let server = try server()
        #expect(try server.ask("PUT", "/v1/timers/new", #"{"after":"1h"}"#).status == 401)
        let headers = authorization("Bearer \(Self.tokens[1])")
        #expect(try server.ask("GET", "/v1/timers/new", headers: headers).status == 404)
    }

    @Test func `health checks, documents and the page need no token, and ignore a wrong one`() throws {
        let server = try server()
        let open = [
            "/", "/healthz", "/readyz", "/openapi.yaml", "/openapi.json", "/docs", "/problems/unauthorized",
            "/problems/not-found",
        ]
        let twice = authorization("Bearer wrong") + authorization("Bearer \(Self.tokens[0])")
        for target in open {
            for headers in ["", authorization("Bearer wrong"), authorization("Basic x"), twice] {
                #expect(try server.ask("GET", target, headers: headers).status == 200, "\(target)")
            }
            #expect(try server.ask("OPTIONS", target).status == 204, "\(target)")
        }
        let unknown = try server.ask("GET", "/problems/no-such-problem")
        #expect(unknown.status == 404)
        #expect(unknown.problem(at: "/problems/no-such-problem") == "not-found")
    }
}
