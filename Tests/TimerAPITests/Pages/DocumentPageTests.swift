import Foundation
import Platform
import TestSupport
import Testing

@testable import TimerAPI

/// The pages that the server shows about itself.
struct DocumentPageTests {
    @Test func `every problem has a page`() throws {
        let server = try WholeServer()
        for kind in ProblemKind.allCases {
            let answer = try server.ask("GET", "/problems/\(kind.rawValue)")
            #expect(answer.status == 200, "\(kind)")
            #expect(answer.header("content-type")?.hasPrefix("text/html") == true, "\(kind)")
            #expect(answer.text.contains("<code>\(kind.rawValue)</code>, status \(kind.status)"), "\(kind)")
            #expect(answer.text.contains("<h1>\(kind.title)</h1>"), "\(kind)")
            #expect(answer.text.contains("href=\"../docs#problem-\(kind.rawValue)\""), "\(kind)")
        }
    }

    @Test func `every problem is documented with its title, status and advice, and no other is`() throws {
        let json = Data(try Repository.text(of: "Sources/CAssets/reference/openapi.json").utf8)
        let document = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        let problems = try #require(document["x-problems"] as? [String: [String: Any]])
        #expect(Set(problems.keys) == Set(ProblemKind.allCases.map(\.rawValue)))
        for kind in ProblemKind.allCases {
            let problem = try #require(problems[kind.rawValue], "\(kind)")
            #expect(problem["title"] as? String == kind.title, "\(kind)")
            #expect(problem["status"] as? Int == kind.status, "\(kind)")
            #expect(problem["advice"] as? String == kind.advice, "\(kind)")
        }
    }

    @Test(arguments: [
        ("/openapi.yaml", "application/yaml"), ("/openapi.json", "application/json"),
        ("/docs", "text/html; charset=utf-8"), ("/dashboard-parts", "text/plain; charset=utf-8"),
    ])
    func `a document is sent once`(path: String, type: String) throws {
        let server = try WholeServer()
        let whole = try server.ask("GET", path)
        #expect(whole.status == 200 && whole.header("content-type") == type)
        #expect(whole.header("cache-control") == "no-cache")
        let tag = try #require(whole.header("etag"))
        let again = try server.ask("GET", path, headers: "If-None-Match: \"x\", \(tag)\r\n")
        #expect(again.status == 304 && again.body.isEmpty && again.header("etag") == tag)
        #expect(again.header("content-length") == whole.header("content-length"))
        #expect(try server.ask("GET", path, headers: "If-None-Match: \"x\"\r\n").status == 200)
        let head = try server.ask("HEAD", path)
        #expect(head.status == 200 && head.header("content-length") == "\(whole.body.count)")
        #expect(head.header("etag") == tag)
        let query = try server.ask("GET", "\(path)?x=1")
        #expect(query.problem(at: path) == "unknown-field")
        #expect(query["parameter"] == "x")
    }

    @Test func `the document is served as it is, and the front page is a page`() throws {
        let server = try WholeServer()
        let document = try server.ask("GET", "/openapi.yaml")
        #expect(document.header("content-type")?.contains("yaml") == true)
        #expect(try document.text == Repository.text(of: "openapi.yaml"))
        let front = try server.ask("GET", "/")
        #expect(front.header("content-type")?.hasPrefix("text/html") == true)
        #expect(front.text.contains("timerd"))
    }

    @Test(arguments: ["text/html", "application/json", "*/*"])
    func `the front page is the same for every client, and not where a credential is missing`(accept: String) throws {
        var access = AccessSettings()
        access.tokens = [Array("0123456789abcdef".utf8)]
        let settings = access
        let server = try WholeServer { $0.access.publish(settings) }
        let front = try server.ask("GET", "/", headers: "Accept: \(accept)\r\n")
        #expect(front.status == 200 && front.header("content-type")?.hasPrefix("text/html") == true)
        #expect(try server.ask("GET", "/", headers: "Authorization: Bearer 0123456789abcdef\r\n").body == front.body)
        let refused = try server.ask("GET", "/v1/timers", headers: "Accept: \(accept)\r\n")
        #expect(refused.status == 401 && refused.header("content-type") == "application/problem+json")
    }
}
