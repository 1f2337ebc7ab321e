import Testing

@testable import TimerAPI

struct DueRingTests {
    private static let width: Int64 = 10

    private var ring = DueRing(width: width, count: 8, now: 1000)
    private let streams = (0..<40).map { id in
        EventStream(
            id: id, plan: StreamPlan(), table: nil,
            channel: StreamChannel(StreamChannel.Key(filter: StreamFilter(), format: .ndjson)), sink: .closed,
            origin: nil, now: 0)
    }

    private mutating func taken(at now: Int64) -> [UInt64] { ring.take(now: now).map(\.id).sorted() }

    @Test mutating func `a due element is taken once, never early and less than a bucket late`() {
        for (index, stream) in streams.enumerated() { ring.insert(stream, at: 1001 + Int64(index)) }
        var found: [UInt64: Int64] = [:]
        for now in Int64(1000)...1060 {
            for id in taken(at: now) {
                #expect(found[id] == nil)
                found[id] = now
            }
        }
        for (index, stream) in streams.enumerated() {
            let due = 1001 + Int64(index)
            #expect((due..<due + Self.width).contains(found[stream.id] ?? 0))
        }
    }

    @Test mutating func `a removed element is not taken, and the others are`() {
        for stream in streams { ring.insert(stream, at: 1005) }
        for stream in streams where stream.id % 3 == 0 { ring.remove(stream) }
        ring.remove(streams[0])
        let left = streams.map(\.id).filter { $0 % 3 != 0 }
        #expect(taken(at: 1010) == left)
        #expect(ring.next == nil)
    }

    @Test mutating func `an element due beyond the ring is looked at on the way`() {
        ring.insert(streams[0], at: 5000)
        #expect(ring.next == 1070)
        #expect(taken(at: 1069) == [])
        #expect(taken(at: 1070) == [0])
    }

    @Test mutating func `after a long pause every element is due at once`() {
        for (index, stream) in streams.enumerated() { ring.insert(stream, at: 1000 + Int64(index)) }
        #expect(taken(at: 1_000_000) == streams.map(\.id))
        ring.insert(streams[5], at: 3)
        #expect(ring.next == 1_000_010)
        #expect(taken(at: 1_000_010) == [5])
    }

    @Test mutating func `next is the end of the first bucket that holds an element`() {
        #expect(ring.next == nil)
        ring.insert(streams[0], at: 1055)
        #expect(ring.next == 1060)
        ring.insert(streams[1], at: 1021)
        #expect(ring.next == 1030)
        #expect(taken(at: 1035) == [1])
        #expect(ring.next == 1060)
    }
}
