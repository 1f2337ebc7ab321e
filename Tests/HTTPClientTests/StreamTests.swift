import HTTPClient
import TestSupport
import Testing

/// Answers that do not end by themselves.
struct StreamTests {
    private let head = "HTTP/1.1 200 OK\r\nEvent-Id: 7\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// A reader that keeps the heads and the bytes of a stream.
    private final class Reader {
        var heads: [HTTPResponse] = []
        var bytes: [UInt8] = []
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Reads the stream of a server with one step, until `enough` is true of the bytes so far.
    private func read(
        _ step: ScriptedServer.Step, silenceSeconds: Int = Patience.seconds, headIsEnough: Bool = false,
        enough: @escaping (String) -> Bool = { _ in false }
    ) throws -> (Reader, Result<HTTPResponse, HTTPClientError>) {
        let server = ScriptedServer([step])
        let client = try HTTPClient(try #require(ServerAddress(server.address)))
        let reader = Reader()
        let result = Result { () throws(HTTPClientError) in
            try client.stream(
                HTTPRequest(.get, "/events"), silenceSeconds: silenceSeconds,
                onHead: { head in
                    reader.heads.append(head)
                    return !headIsEnough
                },
                onBytes: { bytes in
                    reader.bytes += bytes
                    return !enough(reader.text)
                })
        }
        server.stop()
        return (reader, result)
    }

    @Test func `bytes come as they are sent, until the last chunk`() throws {
        let (reader, result) = try read(.answer(head + "3\r\na\nb\r\n2\r\n\nc\r\n0\r\n\r\n"))
        #expect(reader.text == "a\nb\nc")
        let response = try result.get()
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
    }

    @Test func `the head is told once, before the body`() throws {
        let (reader, _) = try read(.answer(head + "1\r\na\r\n0\r\nTrailer: 1\r\n\r\n"))
        #expect(reader.heads.count == 1)
        #expect(reader.heads.first?.header("event-id") == "7")
    }

    @Test func `the reader may end it`() throws {
        let (reader, result) = try read(.answerAndHold(head + "3\r\nabc\r\n")) { $0.contains("c") }
        #expect(reader.text == "abc")
        #expect(try result.get().status == 200)
    }

    @Test func `the reader may end it at the head`() throws {
        let (reader, result) = try read(.answerAndHold(head + "3\r\nabc\r\n"), headIsEnough: true)
        #expect(reader.bytes.isEmpty)
        #expect(try result.get().status == 200)
    }

    @Test func `a connection lost in the middle is an error, and what came was handed on`() throws {
        let (reader, result) = try read(.answerAndClose(head + "3\r\nabc\r\n"))
        #expect(reader.text == "abc")
        #expect(result.kind == .interrupted)
    }

    @Test func `silence ends it`() throws {
        let (reader, result) = try read(.answerAndHold(head + "3\r\nabc\r\n"), silenceSeconds: 1)
        #expect(reader.text == "abc")
        #expect(result.kind == .timedOut)
    }

    @Test func `a refusal's body is not streamed`() throws {
        let text = "HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone"
        let (reader, result) = try read(.answer(text))
        #expect(reader.bytes.isEmpty)
        #expect(reader.heads.map(\.status) == [410])
        #expect(try result.get().body == Array("gone".utf8))
    }
}
