import HTTPServer
import TestSupport
import Testing

/// Requests that two servers could read differently (request smuggling), or that no client can mean. libmicrohttpd
/// refuses some of them, the server the others.
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
        ("two hosts in one line", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
        ("host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
        ("folded header", "GET / HTTP/1.1\r\nHost: t\r\nX-A: one\r\n two\r\n\r\n", 400),
        ("folded header that makes a length", "POST / HTTP/1.1\r\nHost: t\r\nX: y\r\n -Z\r\n\r\n", 400),
        ("lines that end in LF", "GET / HTTP/1.1\nHost: t\n\n", 400),
        ("a request line that ends in LF", "GET / HTTP/1.1\nHost: t\r\n\r\n", 400),
        ("a field that ends in LF", "GET / HTTP/1.1\r\nHost: t\nX: y\r\n\r\n", 400),
        ("a head that ends in LF", "GET / HTTP/1.1\r\nHost: t\r\n\n", 400),
        ("a head whose last lines end in LF", "GET / HTTP/1.1\r\nHost: t\n\n", 400),
        ("space before the colon", "GET / HTTP/1.1\r\nHost : t\r\n\r\n", 400),
        ("space in a name", "GET / HTTP/1.1\r\nHost: t\r\nNa me: v\r\n\r\n", 400),
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
        ("a TLS hello", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1} a TLS hello \r\n\r\n", 400),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("another minor version", "GET / HTTP/1.10\r\nHost: t\r\n\r\n", 400),
        ("no version", "GET /\r\nHost: t\r\n\r\n", 400),
        ("zero byte in the method", "PO\0ST / HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("zero byte before the method", "\0GET / HTTP/1.1\r\nHost: t\r\n\r\n", 400),
        ("space before the first name", "POST / HTTP/1.1\r\n Content-Length: 5\r\nHost: t\r\n\r\n", 400),
        ("another expectation", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n", 417),
    ]

    /// Header fields of a POST, with the status of its refusal.
    private static let fields: [(String, Int)] = [
        ("Content-Length: 0\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", 400),
        ("Transfer-Encoding: chunked, gzip", 501), ("Transfer-Encoding: chunked, chunked", 501),
        ("Transfer-Encoding: chunkedx", 501), ("Transfer-Encoding: chunked;q=1", 501),
        ("Transfer-Encoding: \"chunked\"", 501), ("Transfer-Encoding: ,chunked", 501),
        ("Transfer-Encoding: chunked,", 501), ("Transfer-Encoding: ", 501),
        ("Transfer-Encoding: \u{B}chunked", 400), ("Transfer-Encoding: chunked\u{C}", 400),
        ("Transfer-Encoding: chunked\u{7F}", 400), ("Transfer-Encoding: chunked\0", 400),
        ("Transfer-Encoding : chunked", 400), ("Transfer-Encoding:\r\n chunked", 400),
        ("Content-Length\t: 5", 400), ("Content-Length:\r\n\t5", 400), ("X-A: b\r\n Content-Length: 5", 400),
        ("Content-Length 5", 400), ("Content-Length\0: 5", 400), ("Content-Length: 5\0", 400),
        ("X-A: b\nContent-Length: 5", 400), ("X-A: b\n\rContent-Length: 5", 400),
        ("X-A: b\rContent-Length: 5", 400), ("X-A: b\r c", 400), ("Host: t\r\nContent-Length: 5", 400),
    ]

    /// The first chunks of bodies, which are malformed or not as long as they say, with the status of the refusal.
    private static let chunks: [(String, Int)] = [
        ("\r\nabcde\r\n", 400), ("0x5\r\nabcde\r\n", 400), ("+5\r\nabcde\r\n", 400), ("-5\r\nabcde\r\n", 400),
        ("5 5\r\nabcde\r\n", 400), ("g\r\nabcde\r\n", 400), ("\05\r\nabcde\r\n", 400), ("5\0\r\nabcde\r\n", 400),
        ("10000000000000005\r\nabcde\r\n", 413), ("fffffffffffffffff\r\nabcde\r\n", 413),
        ("4\r\nabcde\r\n", 400), ("7\r\nabcde\r\n", 400), ("5\r\nabcde", 400), ("5\r\nabcdeXX", 400),
    ]

    /// Sends `request` and another one right after it. Only the first is answered, by a refusal, and the connection
    /// is closed.
    ///
    /// - Parameter answers: how many heads the refusal has.
    private func expectRefusal(
        of request: String, _ status: Int, answers: ClosedRange<Int> = 1...1, by server: TestServer, _ what: String
    ) {
        let client = server.client()
        client.send(request + Self.smuggled)
        let answer = String(decoding: client.rest(), as: UTF8.self)
        let statuses = RawClient.statuses(in: answer)
        #expect(Set(statuses) == [status], "\(what)")
        #expect(answers.contains(statuses.count), "\(what)")
        #expect(answer.lowercased().contains("\r\nconnection: close\r\n"), "\(what)")
        #expect(server.probe.count("handled") == 0, "\(what)")
    }

    @Test func `a request that could be read in two ways is refused and the connection closed`() throws {
        let server = try TestServer()
        for (what, request, status) in Self.refused { expectRefusal(of: request, status, by: server, what) }
        for (fields, status) in Self.fields {
            let request = "POST / HTTP/1.1\r\nHost: t\r\n\(fields)\r\n\r\n0\r\n\r\n"
            expectRefusal(of: request, status, by: server, fields.debugDescription)
        }
        for version in ["1.0", "1.1"] {
            let both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            expectRefusal(of: "POST / HTTP/\(version)\r\nHost: t\r\n\(both)", 400, by: server, version)
        }
    }

    @Test func `a refused client that has sent more is not reset before it reads the answer`() throws {
        let server = try TestServer()
        for (what, request, status) in Self.refused where status != 505 {
            let client = server.client()
            client.send(request + Self.smuggled)
            #expect(client.answer()?.status == status, "\(what)")
            #expect(client.isClosedByPeer(), "\(what)")
            #expect(!client.sawReset, "\(what)")
        }
    }

    @Test func `a chunk that is not as it says is refused and the connection closed`() throws {
        let server = try TestServer()
        for (chunk, status) in Self.chunks {
            let request = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\r\n"
            expectRefusal(of: request, status, by: server, chunk.debugDescription)
        }
    }

    /// The library refuses these itself, before it calls the server, and writes its head twice.
    @Test func `a length that is none is refused and the connection closed`() throws {
        let server = try TestServer()
        for length in ["+3", "3, 3", "-1", "", "0x3", "3 3", "5.0", "5;", "5e0", "\05"] {
            let request = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: \(length)\r\n\r\n"
            expectRefusal(of: request, 400, answers: 1...2, by: server, length.debugDescription)
        }
        for length in ["18446744073709551621", "99999999999999999999999"] {
            let request = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: \(length)\r\n\r\n"
            expectRefusal(of: request, 413, answers: 1...2, by: server, length)
        }
        #expect(server.settles(connections: 0, streams: 0))
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
