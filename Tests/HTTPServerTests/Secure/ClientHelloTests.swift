import TestSupport
import Testing

@testable import HTTPServer

struct ClientHelloTests {
    /// The beginning of a record with the beginning of a message.
    private static func head(
        kind: UInt8 = 22, version: UInt8 = 3, record: Int = 500, message: UInt8 = 1, size: Int = 496
    ) -> [UInt8] {
        let length = [UInt8(record >> 8), UInt8(record & 0xff)]
        return [kind, version, 1] + length + [message, UInt8(size >> 16), UInt8(size >> 8 & 0xff), UInt8(size & 0xff)]
    }

    @Test(arguments: [12, 13] as [Int32])
    func `the message of a client fits, and a part of its head is incomplete`(version: Int32) {
        let client = TLSClient(version: version)
        _ = client.handshake()
        let hello = client.takeOutput()
        #expect(ClientHello.judge(hello) == .fits)
        for count in 0..<ClientHello.headBytes { #expect(ClientHello.judge(hello.prefix(count)) == .incomplete) }
    }

    @Test func `other bytes are refused, also before there are enough of them`() {
        #expect(ClientHello.judge(Array("GET / HTTP/1.1".utf8)) == .refused)
        #expect(ClientHello.judge([0x47]) == .refused)
        #expect(ClientHello.judge(Self.head(kind: 23)) == .refused)
        #expect(ClientHello.judge(Self.head(version: 2)) == .refused)
        #expect(ClientHello.judge(Self.head(message: 2)) == .refused)
        #expect(ClientHello.judge(Self.head(record: 3)) == .refused)
    }

    @Test func `a message may have 16 KiB`() {
        #expect(ClientHello.judge(Self.head(size: 16384)) == .fits)
        #expect(ClientHello.judge(Self.head(size: 16385)) == .refused)
    }
}
