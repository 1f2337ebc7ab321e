import HTTPServer
import TestSupport
import Testing

@testable import TimerAPI

/// The methods that a path takes, and the paths there are. `OpenAPITests` compares the table of routes with
/// the document.
struct MethodTests {
    /// A whole server with a timer `held`, and a target for each of its routes.
    private func server() throws -> (WholeServer, [(Route, String)]) {
        let server = try WholeServer()
        try #require(try server.ask("PUT", "/v1/timers/held", #"{"after":"1h"}"#).status == 201)
        let names = [("{id}", "held"), ("{action}", "suspend"), ("{slug}", "not-found"), ("{export}", "e")]
        let targets = Route.allCases.map { route in
            (route, names.reduce(route.path) { path, name in path.replacing(name.0, with: name.1) })
        }
        return (server, targets)
    }

    @Test func `OPTIONS and 405 name the methods that a path takes`() throws {
        let (server, targets) = try server()
        for (route, target) in targets {
            let options = try server.ask("OPTIONS", target)
            #expect(options.status == 204, "\(target)")
            #expect(options.body.isEmpty, "\(target)")
            #expect(options.header("allow") == route.allow, "\(target)")
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"]
            where !route.allow.contains(method) {
                let refused = try server.ask(method, target, method.hasPrefix("P") ? "{}" : nil)
                #expect(refused.status == 405, "\(method) \(target)")
                #expect(refused.header("allow") == route.allow, "\(method) \(target)")
                guard method != "HEAD" else { continue }
                #expect(refused.problem(at: target) == "method-not-allowed", "\(method) \(target)")
            }
        }
    }

    @Test func `HEAD is taken wherever GET is, and has no body`() throws {
        let (server, targets) = try server()
        for (route, target) in targets where route.methods.contains(.get) {
            let client = RawClient(port: try server.port)
            client.send("HEAD \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let answer = String(decoding: client.rest(), as: UTF8.self)
            let absent: [Route] = [.delivery, .importState, .key, .calendar, .calendarOpen]
            #expect(RawClient.statuses(in: answer) == [absent.contains(route) ? 404 : 200], "\(target)")
            #expect(answer.hasSuffix("\r\n\r\n") && answer.split(separator: "\r\n\r\n").count == 1, "\(target)")
        }
    }

    @Test func `a path that names nothing is unknown to every method`() throws {
        let (server, _) = try server()
        let paths = [
            "/nowhere", "/v1", "/v1/", "/v2/timers", "/v1/timer", "/v1/timers/x/y/z", "/v1/timers/x/webhook",
            "/v1/timers/x/webhook/test/y", "/v1/stats/none", "/v1/delivery", "/V1/timers",
            "/v1/schedules", "//v1/timers", "/openapi", "/docs/x", "/problems", "/problems/no-such",
            "/v1/timers//suspend", "/v1/timers/", "/v1/timers//events", "/v1/timers/x/", "/v1/timers/bulk/explode",
            "/v1/timers/bulk/", "/v1//timers", "/v1/deliveries/", "/v1/timers/x/pause", "/problems/",
            "/v1/calendars/", "/v1/calendars/x/closed", "/v1/calendars/x/open/y",
        ]
        for path in paths {
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"] {
                let answer = try server.ask(method, path, method.hasPrefix("P") ? "{}" : nil)
                #expect(answer.status == 404, "\(method) \(path)")
                #expect(answer.problem(at: path) == "not-found", "\(method) \(path)")
                #expect(answer.header("allow") == nil, "\(method) \(path)")
            }
        }
    }

    @Test func `a path is percent-decoded once`() throws {
        let server = try WholeServer()
        try #require(try server.ask("PUT", "/v1/timers/t~a", #"{"after":"1h"}"#).status == 201)
        for spelling in ["t%7Ea", "t%7e%61", "%74~a"] {
            #expect(try server.ask("GET", "/v1/timers/\(spelling)")["id"] == "t~a", "\(spelling)")
        }
        for path in ["/v1/timers/t%257Ea", "/v1/timers%2Fx", "/v1/timers/t~a%2Fevents"] {
            #expect(try server.ask("GET", path).status == 404, "\(path)")
        }
    }

    @Test func `a target that can't be decoded is refused by every method`() throws {
        let server = try WholeServer()
        let targets = [
            "/v1/timers/%", "/v1/timers/%4", "/v1/timers/%zz", "/v1/timers/a%00b", "/v1/timers/%ff",
            "/v1/timers?limit=%zz", "/v1/timers?label=%ff%3Dx", "/v1/timers?label=%00%3Dx",
        ]
        for target in targets {
            for method in ["GET", "HEAD", "DELETE", "POST"] {
                let answer = try server.ask(method, target)
                #expect(answer.status == 400, "\(method) \(target)")
                guard method != "HEAD" else { continue }
                #expect(answer.problem(at: target) == "invalid-request", "\(method) \(target)")
            }
        }
    }

    @Test func `a target that is no text is shown as text`() throws {
        let server = try WholeServer()
        let client = RawClient(port: try server.port)
        client.send(
            Array("GET /".utf8) + [0xFF, 0x2F, 0xC3, 0xA9] + Array(" HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        let answer = try #require(client.answer())
        #expect(answer.status == 400)
        #expect(answer["instance"] == "/%FF/%C3%A9")
        server.stop()
    }

    @Test func `a problem repeats no markup of the path`() throws {
        let answer = try WholeServer().ask("GET", "/v1/timers/%3Cscript%3E")
        #expect(answer.problem(at: "/v1/timers/%3Cscript%3E") == "not-found")
        #expect(!answer.text.contains("<"))
    }
}
