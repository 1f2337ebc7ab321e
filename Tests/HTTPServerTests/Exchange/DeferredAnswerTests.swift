import HTTPServer
import TestSupport
import Testing

/// Answers that are given after `handle` has returned. The library documents no such thing; these tests pin it.
struct DeferredAnswerTests {
    @Test func `an answer is sent when the loop is woken`() throws {
        let server = try TestServer()
        let client = server.client()
        for round in 1...3 {
            client.send("POST /later HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\nab")
            #expect(server.probe.wait("kept", count: round))
            server.probe.open("later")
            #expect(client.answer()?.text == "late")
        }
        #expect(client.get("/")?.status == 200)
        #expect(server.probe.count("handled") == 4)
    }

    @Test func `an answer given at the end of a round is sent in that round`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send(String(repeating: "GET /turn HTTP/1.1\r\nHost: test\r\n\r\n", count: 50))
        for _ in 0..<50 { #expect(client.answer()?.text == "late") }
    }

    /// The library's event array has 128 places. These requests hang if the array is full and the library itself waits.
    @Test(arguments: [127, 128, 129])
    func `so many requests at once are all answered`(count: Int) throws {
        let server = try TestServer()
        let clients = (0..<count).map { _ in server.client() }
        for client in clients { #expect(client.get("/")?.status == 200) }
        for client in clients { client.send("POST /later HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\n\r\na") }
        #expect(server.probe.wait("kept", count: count))
        let other = server.client()
        #expect(other.get("/")?.status == 200, "others are served meanwhile")
        server.probe.open("later")
        for client in clients { #expect(client.answer()?.text == "late") }
        for client in clients { client.send("GET /turn HTTP/1.1\r\nHost: test\r\n\r\n") }
        for client in clients { #expect(client.answer()?.text == "late") }
        #expect(server.server.forgottenAnswers == 0)
    }

    /// The library watches a connection from the first time that it waits for it, so during a connection's first
    /// request it does not see the client leave, and the answer is lost.
    @Test(arguments: [true, false])
    func `the answer to a client that has gone is dropped`(isFirst: Bool) throws {
        let server = try TestServer()
        let client = server.client()
        if !isFirst { #expect(client.get("/")?.status == 200) }
        client.send("GET /later HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("kept"))
        client.reset()
        if !isFirst { #expect(server.settles(connections: 0, streams: 0)) }
        server.probe.open("later")
        if !isFirst { #expect(server.probe.wait("orphaned")) }
        #expect(server.settles(connections: 0, streams: 0))
        #expect(server.server.forgottenAnswers == 0)
        #expect(server.client().get("/")?.status == 200)
    }

    @Test func `a forgotten answer is a 500`() throws {
        let server = try TestServer()
        let client = server.client()
        #expect(client.get("/forget")?.status == 500)
        #expect(server.server.forgottenAnswers == 1)
        #expect(client.get("/")?.status == 200)
        client.send("GET /later HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("kept"))
        server.probe.open("drop")
        #expect(client.answer()?.status == 500)
        #expect(server.server.forgottenAnswers == 2)
    }

    @Test func `a large upload goes on beside waiting answers`() throws {
        let server = try TestServer()
        let waiting = server.client()
        waiting.send("GET /later HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("kept"))
        let client = server.client()
        let body = [UInt8](repeating: 0x62, count: 2_000_000)
        client.send("PUT / HTTP/1.1\r\nHost: test\r\nContent-Length: \(body.count)\r\n\r\n")
        client.send(body)
        #expect(client.answer()?.body == body)
        client.send((0..<100).map { "GET /\($0) HTTP/1.1\r\nHost: test\r\n\r\n" }.joined())
        for index in 0..<100 { #expect(client.answer()?.header("x-target") == "/\(index)") }
        server.probe.open("later")
        #expect(waiting.answer()?.text == "late")
    }
}
