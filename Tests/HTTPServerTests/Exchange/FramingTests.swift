import HTTPServer
import TestSupport
import Testing

/// Requests that libmicrohttpd lets through and the server must refuse.
struct FramingTests {
    static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: test\r\n\r\n"

    static let refused: [(String, String, Int)] = [
        (
            "length and transfer coding",
            "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400
        ),
        (
            "transfer coding and length",
            "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400
        ),
        ("two lengths", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400),
        ("one length twice", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
        ("gzip coding", "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("identity coding", "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: identity\r\n\r\n", 501),
        ("unknown coding", "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
        (
            "two codings",
            "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400
        ),
        ("coding in 1.0", "POST / HTTP/1.0\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("no host", "GET / HTTP/1.1\r\n\r\n", 400),
        ("two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
        ("folded header", "GET / HTTP/1.1\r\nHost: t\r\nX-A: one\r\n two\r\n\r\n", 400),
        ("folded header that makes a length", "POST / HTTP/1.1\r\nHost: t\r\nX: y\r\n -Z\r\n\r\n", 400),
        ("lines that end in LF", "GET / HTTP/1.1\nHost: t\n\n", 400),
        ("a request line that ends in LF", "GET / HTTP/1.1\nHost: t\r\n\r\n", 400),
        ("a field that ends in LF", "GET / HTTP/1.1\r\nHost: t\nX: y\r\n\r\n", 400),
        ("a head that ends in LF", "GET / HTTP/1.1\r\nHost: t\r\n\n", 400),
        ("a head whose last lines end in LF", "GET / HTTP/1.1\r\nHost: t\n\n", 400),
        ("space before the colon", "GET / HTTP/1.1\r\nHost : t\r\n\r\n", 400),
        ("tab in a name", "GET / HTTP/1.1\r\nHost: t\r\nX\tY: t\r\n\r\n", 400),
        ("no colon", "GET / HTTP/1.1\r\nHost: t\r\nnonsense\r\n\r\n", 400),
        ("empty name", "GET / HTTP/1.1\r\nHost: t\r\n: v\r\n\r\n", 400),
        ("brackets in a name", "GET / HTTP/1.1\r\nHost: t\r\nX[]: v\r\n\r\n", 400),
        ("control in a value", "GET / HTTP/1.1\r\nHost: t\r\nX: a\u{1}b\r\n\r\n", 400),
        ("zero byte in a value", "GET / HTTP/1.1\r\nHost: t\r\nX: a\0b\r\n\r\n", 400),
        ("zero byte ends a value", "GET / HTTP/1.1\r\nHost: t\r\nX: a\0\r\n\r\n", 400),
        ("zero byte in a name", "GET / HTTP/1.1\r\nHost: t\r\nX\0Y: a\r\n\r\n", 400),
        ("zero byte in the target", "GET /a\0b HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("space in the target", "GET /a b HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("two spaces before the target", "GET  /a HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("two spaces after the target", "GET /a  HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("tab in the target", "GET /a\tb HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("no ASCII in the target", "GET /\u{e9} HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("fragment", "GET /a#b HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("relative target", "GET a HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("another scheme", "GET ftp://a/ HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("no authority", "GET http:///a HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("user in the authority", "GET http://u@a/ HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("* of GET", "GET * HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("another expectation", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n", 417),
    ]

    @Test(arguments: refused)
    func `a request that could be read in two ways is refused and the connection closed`(
        what: String, request: String, status: Int
    ) throws {
        let server = try TestServer()
        let client = server.client()
        client.send(request + Self.smuggled)
        let answer = try #require(client.answer(), "\(what)")
        #expect(answer.status == status, "\(what)")
        #expect(answer.closes)
        #expect(client.isClosedByPeer(), "nothing behind it is answered")
        #expect(!client.sawReset)
        #expect(server.probe.count("handled") == 0)
    }

    /// The library answers these itself, before it asks, and writes its head twice.
    @Test(arguments: ["+3", "3, 3", "-1", "", "0x3", "3 3", "99999999999999999999"])
    func `a length that is none is refused and the connection closed`(length: String) throws {
        let server = try TestServer()
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: \(length)\r\n\r\n" + Self.smuggled)
        let answer = try #require(client.head())
        #expect([400, 413].contains(answer.status))
        #expect(answer.closes)
        #expect(server.settles(connections: 0, streams: 0))
        #expect(server.probe.count("handled") == 0)
    }

    @Test(arguments: [
        "garbage\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2.0\r\nHost: t\r\n\r\n", "GET / HTP/1.1\r\n\r\n",
        "\0\0\0\0\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\r\n\r\n",
    ])
    func `what is no HTTP is refused or cut`(request: String) throws {
        let server = try TestServer { $0.requestSeconds = 1 }
        let client = server.client()
        client.send(request)
        if let answer = client.answer() { #expect(answer.status >= 400) }
        #expect(client.isClosedByPeer())
        #expect(server.client().get("/")?.status == 200)
    }

    @Test(arguments: [
        "\r\nGET / HTTP/1.1\r\nHost: test\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET /?a&&=&b%00 HTTP/1.1\r\nHost: test\r\nCookie: a=b; c=d\r\n\r\n",
    ])
    func `what is unusual but clear is served`(request: String) throws {
        let server = try TestServer()
        let client = server.client()
        client.send(request)
        #expect(client.answer()?.status == 200)
    }
}
