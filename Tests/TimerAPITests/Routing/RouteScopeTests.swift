import Foundation
import HTTPServer
import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// The table of what each request needs.
struct RouteScopeTests {
    /// Each route with each of its methods.
    private static let requests = Route.allCases.flatMap { route in route.methods.map { (route, $0) } }

    private static func key(_ scopes: KeyScopes, idPrefix: String = "") throws -> AccessKey {
        AccessKey(
            id: KeyID(random: 0), name: "k", scopes: scopes, idPrefix: Array(idPrefix.utf8), createdAt: 1,
            newest: try #require(KeyDigest([UInt8](repeating: 1, count: KeyDigest.count))))
    }

    /// The `security` that the document gives a request with this need.
    private static func security(_ need: RouteScope.Need) -> [[String: [String]]] {
        switch need {
        case .open: []
        case .anyKey: [[:], ["bearer": []]]
        case .scope(let scope): [[:], ["bearer": scope.names.map { "\($0)" }]]
        }
    }

    /// The problem for which a key is refused; nil where it is let in.
    private static func refusal(_ key: AccessKey, _ route: Route, _ method: HTTPMethod) -> Problem? {
        do throws(Problem) { try route.scope(method).check(KeyHolder(key)) } catch { return error }
        return nil
    }

    @Test func `the document and the table say the same of every request`() throws {
        let json = Data(try Repository.text(of: "Sources/CAssets/reference/openapi.json").utf8)
        let document = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        for (route, method) in Self.requests {
            let item = try #require(paths[route.path], "\(route.path)")
            let operation = try #require(item["\(method)"] as? [String: Any], "\(method) \(route.path)")
            let security = operation["security"] as? [[String: [String]]]
            #expect(security == Self.security(route.scope(method).need), "\(method) \(route.path)")
        }
    }

    @Test func `what is open takes no credential, the page at the root included`() {
        for (route, method) in Self.requests {
            #expect((route.scope(method).need == .open) == route.isOpen, "\(route)")
        }
        let open: [Route] = [
            .dashboard, .dashboardParts, .healthz, .readyz, .openAPI, .openAPIJSON, .reference, .problem,
        ]
        #expect(Route.allCases.filter(\.isOpen) == open)
    }

    @Test func `any key asks who it is, whatever its scopes and its prefix`() throws {
        #expect(Self.requests.filter { $0.scope($1).need == .anyKey }.map(\.0) == [.keySelf])
        for (_, scope) in KeyScopes.named {
            #expect(Self.refusal(try Self.key(scope, idPrefix: "job-"), .keySelf, .get) == nil)
        }
    }

    @Test func `HEAD needs what GET does, and OPTIONS any key`() {
        for route in Route.allCases {
            #expect(route.scope(.head) == route.scope(.get))
            let isOpen = route.scope(.get).need == .open
            #expect(route.scope(.options).need == (isOpen ? .open : .anyKey), "\(route)")
        }
    }

    @Test func `a scope opens what it says, and nothing else`() throws {
        let admin: Set<Route> = [
            .cluster, .promote, .drain, .export, .importPart, .importState, .keys, .key, .keyRotate,
        ]
        for (route, method) in Self.requests where !route.isOpen && route != .keySelf {
            let reads = method == .get || route == .preview
            let least: KeyScopes =
                admin.contains(route) ? .admin : route == .kick || route == .batch ? .kick : reads ? .read : .write
            for (_, scope) in KeyScopes.named {
                let refusal = Self.refusal(try Self.key(scope), route, method)
                #expect((refusal == nil) == scope.allow(least), "\(scope.names) \(method) \(route.path)")
                guard let refusal else { continue }
                #expect(refusal.kind == .forbidden && refusal.idPrefix == nil)
                #expect(refusal.scope.map { "\($0)" } == least.names.first.map { "\($0)" }, "\(method) \(route.path)")
            }
        }
    }

    @Test func `a key with a prefix uses the requests about one timer`() throws {
        let single: Set<Route> = [
            .timer, .timerNext, .timerEvents, .timerWait, .activate, .suspend, .resume, .cancel, .kick, .fire,
            .reschedule, .batch, .events, .deliveries, .redrive, .webhookTest,
        ]
        let key = try Self.key(.write, idPrefix: "job-")
        for (route, method) in Self.requests {
            let scope = route.scope(method)
            guard case .scope(let needed) = scope.need, needed != .admin else { continue }
            let refusal = Self.refusal(key, route, method)
            let isSingle = single.contains(route) || route == .timers && method == .post
            #expect((refusal == nil) == isSingle, "\(method) \(route.path)")
            if let refusal { #expect(refusal.idPrefix == key.idPrefix && refusal.scope == nil) }
            #expect(scope.timers != .none)
        }
    }

    @Test func `a timer's id is judged where the request has it`() {
        for (route, method) in Self.requests {
            let timers = route.scope(method).timers
            #expect((timers == .inPath) == route.path.hasPrefix("/v1/timers/{id}"), "\(route.path)")
        }
        for route in [Route.events, .deliveries] { #expect(route.scope(.get).timers == .inQuery) }
        for route in [Route.timers, .batch, .redrive] { #expect(route.scope(.post).timers == .inBody) }
    }

    @Test func `another timer is refused, whether or not it is there`() throws {
        let key = try Self.key(.write, idPrefix: "job-")
        #expect(throws: Never.self) { try RouteScope.check(KeyHolder(key), timer: Array("job-1".utf8)) }
        #expect(throws: Never.self) { try RouteScope.check(KeyHolder(Self.key(.write)), timer: nil) }
        for id in ["other", "job", nil] {
            do throws(Problem) {
                try RouteScope.check(KeyHolder(key), timer: id.map { Array($0.utf8) })
                Issue.record("\(id ?? "no id") is let in")
            } catch {
                #expect(error.kind == .forbidden && error.idPrefix == Array("job-".utf8))
            }
        }
    }
}
