import TLS
import TestSupport
import Testing

struct TLSSessionTests {
    /// An alert's number: no_application_protocol.
    private static let noProtocol: Int32 = 120

    @Test(arguments: [12, 13] as [Int32], [[], ["http/1.1"], ["h2", "http/1.1"]])
    func `bytes go both ways`(version: Int32, protocols: [String]) throws {
        let pair = try SessionPair(TLSClient(version: version, protocols: protocols))
        #expect(pair.shakeHands() == .done(1))
        #expect(pair.client.speaksHTTP11 == !protocols.isEmpty)
        #expect(pair.client.write(Array("question".utf8)))
        pair.send(pair.client.takeOutput())
        #expect(pair.read() == (.done(8), Array("question".utf8)))
        #expect(pair.write(Array("answer".utf8)) == .done(6))
        pair.receive()
        #expect(pair.client.read() == Array("answer".utf8))
    }

    @Test(arguments: [12, 13] as [Int32])
    func `a client that offers other protocols alone gets an alert`(version: Int32) throws {
        let pair = try SessionPair(TLSClient(version: version, protocols: ["h2", "http/1.0"]))
        #expect(pair.shakeHands() == .failed)
        pair.receive()
        _ = pair.client.handshake()
        #expect(pair.client.alert == Self.noProtocol)
    }

    @Test func `a session outlives its context and waits for its client`() throws {
        let pair = try SessionPair()
        #expect(pair.session.handshake() == .wantsReading)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}\u{4}zzzz", "SSH-2.0-client\r\n",
    ])
    func `a session fails by bytes that are no handshake, and stays failed`(text: String) throws {
        let pair = try SessionPair()
        pair.send(Array(text.utf8))
        #expect(pair.session.handshake() == .failed)
        #expect(pair.session.handshake() == .failed)
        #expect(pair.read().0 == .failed)
        pair.session.closeNotify()
    }

    @Test func `a failed session leaves nothing for the next one on its thread`() throws {
        let bad = try SessionPair()
        let good = try SessionPair()
        #expect(good.shakeHands() == .done(1))
        bad.send(Array("nothing of TLS".utf8))
        #expect(bad.session.handshake() == .failed)
        #expect(good.read().0 == .wantsReading)
    }

    @Test func `a client that goes ends the handshake`() throws {
        let pair = try SessionPair()
        pair.end()
        #expect([.ended, .failed].contains(pair.session.handshake()))
    }

    @Test(arguments: [true, false])
    func `the client's end is seen, with close_notify and without`(isReported: Bool) throws {
        let pair = try SessionPair()
        #expect(pair.shakeHands() == .done(1))
        if isReported {
            pair.client.closeNotify()
            pair.send(pair.client.takeOutput())
        } else {
            pair.end()
        }
        #expect(pair.read().0 == .ended)
        // The other direction is still open.
        #expect(pair.write(Array("rest".utf8)) == .done(4))
        pair.session.closeNotify()
        pair.receive()
        #expect(pair.client.read() == Array("rest".utf8))
        #expect(pair.client.read() == nil)
        #expect(pair.client.isEnded)
    }

    @Test func `a write without room goes on from other memory, with more bytes after it`() throws {
        let pair = try SessionPair()
        #expect(pair.shakeHands() == .done(1))
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
        var sent = 0
        var read: [UInt8] = []
        var waits = 0
        while sent < bytes.count {
            // Each try has a copy, and may have more bytes than the one before.
            switch pair.write(Array(bytes[sent..<min(bytes.count, sent + 20_000 + waits * 1000)])) {
            case .done(let count): sent += count
            case .wantsWriting:
                waits += 1
                pair.receive()
                while let some = pair.client.read() { read += some }
            default:
                Issue.record("the session broke after \(sent) bytes")
                return
            }
        }
        pair.receive()
        while let some = pair.client.read() { read += some }
        #expect(waits > 1)
        #expect(read == bytes)
    }

    @Test func `one read takes one record, however many that hold no data come first`() throws {
        let pair = try SessionPair()
        #expect(pair.shakeHands() == .done(1))
        for _ in 0..<100 { #expect(pair.client.updateKeys()) }
        #expect(pair.client.write([1]))
        pair.send(pair.client.takeOutput())
        var empty = 0
        while pair.read().0 == .wantsReading, empty < 200 {
            empty += 1
            pair.receive()
        }
        #expect(empty >= 100)
        #expect(empty < 200)
    }
}
