import Foundation
import HTTPClient
import TestSupport
import Testing

/// The bytes that the client sends, and its reading of the answer.
struct RequestTests {
    private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// The requests and the answers of a client that sends `requests` to a server with `script`.
    private func exchange(
        _ script: [ScriptedServer.Step], _ requests: [HTTPRequest], bodyLimit: Int = 1024
    ) throws -> (ScriptedServer, [Result<HTTPResponse, HTTPClientError>]) {
        let server = ScriptedServer(script)
        let client = try HTTPClient(try #require(ServerAddress(server.address)), bodyLimit: bodyLimit)
        let answers = requests.map { request in
            Result { () throws(HTTPClientError) in try client.send(request, timeoutMs: Patience.milliseconds) }
        }
        server.stop()
        return (server, answers)
    }

    @Test func `status, headers and body come back`() throws {
        let text = "HTTP/1.1 201 Created\r\nETag: \"v1\"\r\nX-Empty:\r\nx-two:  a b \r\nContent-Length: 5\r\n\r\nhello"
        let (_, answers) = try exchange([.answer(text)], [HTTPRequest(.get, "/")])
        let response = try answers[0].get()
        #expect(response.status == 201)
        #expect(response.header("etag") == "\"v1\"")
        #expect(response.header("X-Empty") == "")
        #expect(response.header("X-Two") == "a b")
        #expect(response.header("absent") == nil)
        #expect(response.body == Array("hello".utf8))
    }

    @Test func `a refusal is an answer, not an error`() throws {
        let text = "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno"
        let (_, answers) = try exchange([.answer(text)], [HTTPRequest(.post, "/")])
        #expect(try answers[0].get().status == 409)
        #expect(try answers[0].get().body == Array("no".utf8))
    }

    @Test(arguments: HTTPRequest.Method.allCases)
    func `the method goes out as it is called`(method: HTTPRequest.Method) throws {
        let answer = method == .head ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" : ok
        let (server, answers) = try exchange([.answer(answer)], [HTTPRequest(method, "/a%20b/..?c=d")])
        #expect(try answers[0].get().status == 200)
        #expect(server.requests.first?.hasPrefix("\(method.rawValue) /a%20b/..?c=d HTTP/1.1\r\n") == true)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch, .delete])
    func `without a body no content type is claimed`(method: HTTPRequest.Method) throws {
        let (server, _) = try exchange([.answer(ok)], [HTTPRequest(method, "/")])
        let request = try #require(server.requests.first?.lowercased())
        #expect(!request.contains("content-type"))
        #expect(request.contains("\r\ncontent-length: 0\r\n"))
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch])
    func `a body goes out whole, zero bytes included`(method: HTTPRequest.Method) throws {
        let body: [UInt8] = Array("{\"a\":\0}".utf8)
        let headers = [(name: "Content-Type", value: "application/json")]
        let (server, _) = try exchange([.answer(ok)], [HTTPRequest(method, "/", headers: headers, body: body)])
        let request = try #require(server.requests.first)
        #expect(request.contains("\r\nContent-Type: application/json\r\n"))
        #expect(request.contains("\r\nContent-Length: \(body.count)\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{\"a\":\0}"))
    }

    @Test func `a connection serves several requests, each set up anew`() throws {
        let requests = [
            HTTPRequest(.post, "/1", headers: [("X-One", "1")], body: [0x31]), HTTPRequest(.get, "/2"),
        ]
        let (server, answers) = try exchange([.answer(ok), .answer(ok)], requests)
        #expect(try answers.map { try $0.get().status } == [200, 200])
        #expect(server.connections == 1)
        #expect(server.requests.last?.hasPrefix("GET /2 HTTP/1.1\r\n") == true)
        #expect(server.requests.last?.contains("X-One") == false)
        #expect(server.requests.last?.hasSuffix("\r\n\r\n") == true)
    }

    @Test func `an interim answer is passed over`() throws {
        let text = "HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let (_, answers) = try exchange([.answer(text)], [HTTPRequest(.post, "/", body: [0x31])])
        #expect(try answers[0].get().status == 200)
        #expect(try answers[0].get().header("x-interim") == nil)
    }

    @Test func `a redirect is shown, not followed`() throws {
        let text = "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"
        let (server, answers) = try exchange([.answer(text), .answer(ok)], [HTTPRequest(.get, "/")])
        #expect(try answers[0].get().status == 302)
        #expect(server.requests.count == 1)
    }

    @Test func `an answer over the limit is refused`() throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 1025\r\n\r\n" + String(repeating: "x", count: 1025)
        let (_, answers) = try exchange([.answerAndClose(text)], [HTTPRequest(.get, "/")])
        #expect(throws: HTTPClientError.self) { try answers[0].get() }
        #expect(answers[0].kind == .tooLarge)
    }

    @Test func `a head over the limit is refused`() throws {
        let line = "X-Fill: " + String(repeating: "x", count: 8000) + "\r\n"
        let text = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 9) + "Content-Length: 0\r\n\r\n"
        let (_, answers) = try exchange([.answerAndClose(text)], [HTTPRequest(.get, "/")])
        #expect(answers[0].kind == .tooLarge)
    }

    @Test func `an answer cut short is an error`() throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
        let (_, answers) = try exchange([.answerAndClose(text)], [HTTPRequest(.get, "/")])
        #expect(answers[0].kind == .interrupted)
    }

    @Test func `no answer at all is an error`() throws {
        let (_, answers) = try exchange([.answerAndClose("")], [HTTPRequest(.get, "/")])
        #expect(answers[0].kind == .interrupted)
    }

    @Test func `an answer that does not come is given up`() throws {
        let server = ScriptedServer([.answerAndHold("HTTP/1.1 200 OK\r\n")])
        let client = try HTTPClient(try #require(ServerAddress(server.address)))
        let error = #expect(throws: HTTPClientError.self) { try client.send(HTTPRequest(.get, "/"), timeoutMs: 50) }
        #expect(error?.kind == .timedOut)
        server.stop()
    }

    @Test func `an address without a listener is named in the error`() throws {
        let gone = ScriptedServer([])
        gone.stop()
        let client = try HTTPClient(try #require(ServerAddress(gone.address)))
        let error = #expect(throws: HTTPClientError.self) {
            try client.send(HTTPRequest(.get, "/"), timeoutMs: Patience.milliseconds)
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.description.contains(gone.address) == true)
    }

    @Test(arguments: [
        HTTPRequest(.get, "no-slash"), HTTPRequest(.get, "/a b"), HTTPRequest(.get, "/a\r\nX: y"),
        HTTPRequest(.get, "/", headers: [("X", "a\r\nY: b")]), HTTPRequest(.get, "/", headers: [("X:", "a")]),
        HTTPRequest(.get, "/", headers: [("", "a")]),
    ])
    func `what would write headers of its own is not sent`(request: HTTPRequest) throws {
        let (server, answers) = try exchange([.answer(ok)], [request])
        #expect(answers[0].kind == .invalidRequest)
        #expect(server.connections == 0)
    }

    @Test func `a header without a value is sent`() throws {
        let (server, _) = try exchange([.answer(ok)], [HTTPRequest(.get, "/", headers: [("X-Empty", "")])])
        #expect(server.requests.first?.contains("\r\nX-Empty:\r\n") == true)
    }

    @Test func `a Unix socket is a server like another`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("server.sock")
        let server = ScriptedServer([.answer(ok)], socketPath: path)
        let client = try HTTPClient(try #require(ServerAddress("unix:\(path)")))
        #expect(try client.send(HTTPRequest(.get, "/here"), timeoutMs: Patience.milliseconds).status == 200)
        server.stop()
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("GET /here HTTP/1.1\r\n"))
        #expect(request.contains("\r\nHost: localhost\r\n"))
    }
}

extension Result where Failure == HTTPClientError {
    /// The kind of the error; nil for a success.
    var kind: HTTPClientError.Kind? {
        if case .failure(let error) = self { error.kind } else { nil }
    }
}
