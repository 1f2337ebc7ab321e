import HTTPServer
import TestSupport
import Testing

struct FuzzTests {
    static let seeds = [
        "GET / HTTP/1.1\r\nHost: test\r\n\r\n",
        "POST /a?b=c HTTP/1.1\r\nHost: test\r\nContent-Length: 12\r\nX-Y: z\r\n\r\nhello, world",
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nT: u\r\n\r\n",
        "PUT http://a:1/b HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
        "OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /turn HTTP/1.1\r\nHost: t\r\n\r\n",
        "GET /stream HTTP/1.1\r\nHost: t\r\n\r\n", "HEAD /park HTTP/1.1\r\nHost: t\r\nCookie: a=b\r\n\r\n",
        "GET /finish HTTP/1.0\r\n\r\n", "DELETE /forget HTTP/1.1\r\nHost: t\r\n\r\n",
    ].map { Array($0.utf8) }

    static let pieces = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", ",", "?", "&", "%", "%00", "HTTP/1.1", "HTTP/1.0",
        "Content-Length: 5",
        "Transfer-Encoding: chunked", "Host: x", "0\r\n\r\n", "ffffffffffffffff\r\n", "-1", "99999999999999999999", "*",
    ].map { Array($0.utf8) }

    static func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            case 1: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
            case 2: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...8, using: &random)))
            default: bytes.insert(contentsOf: bytes[..<place].suffix(40), at: place)
            }
        }
        return bytes
    }

    static func requests(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        repeat {
            bytes += mutate(seeds.randomElement(using: &random) ?? [], &random)
        } while Bool.random(using: &random) && bytes.count < 2000
        return bytes
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `whatever a client sends it gets answers or a close, and others are served`(seed: UInt64) throws {
        let server = try TestServer(loops: 2, bodyLimit: 100) {
            $0.drainBodyBytes = 1000
            $0.requestSeconds = 5
        }
        // The gates end the streams: a client that has ended its side still reads, so its stream would go on for ever.
        for gate in ["parked", "finish"] { server.probe.open(gate) }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4 {
            let clients = (0..<125).map { _ in server.client() }
            let requests = clients.map { _ in Self.requests(&random) }
            for (client, bytes) in zip(clients, requests) {
                let cut = Int.random(in: 0...bytes.count, using: &random)
                client.send(Array(bytes[..<cut]))
                client.send(Array(bytes[cut...]))
                client.endSending()
            }
            for (client, bytes) in zip(clients, requests) {
                let answer = client.rest()
                let what = String(decoding: bytes, as: UTF8.self).debugDescription
                #expect(answer.isEmpty || answer.starts(with: "HTTP/1.1 ".utf8), "seed \(seed): \(what)")
            }
        }
        #expect(server.client().get("/")?.status == 200)
        #expect(server.settles(connections: 0, streams: 0))
    }
}
