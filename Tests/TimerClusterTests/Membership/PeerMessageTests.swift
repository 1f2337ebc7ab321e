import Testing

@testable import TimerCluster

struct PeerMessageTests {
    private static let messages: [PeerMessage] = [
        .prepare(partition: 7, epoch: 3, askedAt: 1_234_567_890_123),
        .prepared(partition: 0, epoch: 1 << 40, askedAt: 5, rows: 99),
        .given(partition: 1023, epoch: 12, session: .max),
        .cancelled(partition: 5, epoch: 0),
    ]

    @Test(arguments: messages) func `a message comes as it was sent, with who says it`(_ message: PeerMessage) throws {
        let read = try #require(PeerMessage.decode(message.bytes(from: 42), partitions: 1024))
        #expect(read.message == message && read.session == 42)
    }

    @Test func `bytes of no message are none`() {
        let bytes = PeerMessage.prepare(partition: 7, epoch: 3, askedAt: 1).bytes(from: 42)
        #expect(PeerMessage.decode(bytes, partitions: 7) == nil)
        #expect(PeerMessage.decode([], partitions: 8) == nil)
        #expect(PeerMessage.decode(bytes + [0], partitions: 8) == nil)
        #expect(PeerMessage.decode(Array(bytes.dropLast()), partitions: 8) == nil)
        #expect(PeerMessage.decode([9] + bytes.dropFirst(), partitions: 8) == nil)
        // A negative number.
        #expect(PeerMessage.decode(bytes.prefix(1) + [0x80] + bytes.dropFirst(2), partitions: 8) == nil)
    }
}
