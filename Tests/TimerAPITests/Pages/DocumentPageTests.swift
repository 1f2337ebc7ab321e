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
        }
    }

    @Test func `every kind of problem is documented`() throws {
        let text = try Repository.text(of: "openapi.yaml")
        for kind in ProblemKind.allCases { #expect(text.contains(kind.rawValue), "\(kind)") }
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
}
