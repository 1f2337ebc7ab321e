import Foundation
import HTTPServer
import TestSupport
import Testing

@testable import TimerAPI

/// The document and the route table say the same.
struct OpenAPITests {
    /// The document's paths with their methods, found by indentation.
    private static func documented() throws -> [String: Set<String>] {
        let text = try Repository.text(of: "openapi.yaml")
        var paths: [String: Set<String>] = [:]
        var inPaths = false
        var path = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if !line.isEmpty && !line.hasPrefix(" ") && !line.hasPrefix("#") { inPaths = line == "paths:" }
            guard inPaths else { continue }
            if line.hasPrefix("  /"), let colon = line.lastIndex(of: ":") {
                path = String(line[..<colon].dropFirst(2))
                paths[path] = []
            } else if line.hasPrefix("    "), !line.hasPrefix("     "), line.hasSuffix(":") {
                let word = line.dropFirst(4).dropLast().uppercased()
                if ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(word) { paths[path]?.insert(word) }
            }
        }
        return paths
    }

    @Test func `every route is documented with its methods, and nothing else is`() throws {
        var routes: [String: Set<String>] = [:]
        for route in Route.allCases { routes[route.path] = Set(route.methods.map { "\($0.name)" }) }
        #expect(try Self.documented() == routes)
    }

    @Test(arguments: Route.allCases)
    func `a route's own path leads to it`(route: Route) throws {
        var path = route.path
        for (name, value) in [("{id}", "some-id"), ("{action}", "cancel"), ("{slug}", "not-found")] {
            path = path.replacing(name, with: value)
        }
        let target = try Target(Array(path.utf8))
        guard case .route(let found, _) = Routing.match(target.parts) else {
            Issue.record("\(route.path) leads nowhere")
            return
        }
        #expect(found == route)
    }

    @Test(arguments: [
        "/v1", "/v1/", "/v2/timers", "/v1/timers/", "/v1/timers/a/b/c", "/v1/timers/batch/x", "/problems",
        "/problems/not-found/x", "/v1/timers//suspend", "/v1/timers/bulk/explode", "/v1/timers/bulk/",
    ])
    func `other paths lead nowhere`(path: String) throws {
        let target = try Target(Array(path.utf8))
        if case .route(let route, _) = Routing.match(target.parts) { Issue.record("\(path) leads to \(route)") }
    }
}
