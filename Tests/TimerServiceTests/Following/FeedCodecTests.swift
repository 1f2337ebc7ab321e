import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct FeedCodecTests {
    /// Bytes of a row's header.
    private static let headerBytes = 61
    private let layout: PartitionLayout

    init() throws { layout = try #require(PartitionLayout(strided: 8)) }

    private func asks(_ random: inout SeededGenerator) -> [FeedAsk] {
        (0..<random.number(1...20)).map { _ in
            let (partition, position) = (Int(random.number(0...7)), random.number(0...(.max - 1)))
            return switch random.number(0...3) {
            case 0: .follow(partition: partition, after: position)
            case 1: .leave(partition: partition)
            case 2: .promise(partition: partition, through: position)
            default: .credit(Int(random.number(0...255)))
            }
        }
    }

    private func fact(_ random: inout SeededGenerator) -> FeedFact {
        let partition = Int(random.number(0...7))
        let after = random.number(0...1 << 60)
        switch random.number(0...4) {
        case 0: return .behind(partition: partition, head: after)
        case 1: return .elsewhere(partition: partition)
        case 2: return .kept(partition: partition, horizon: after, oldest: after + random.number(0...1 << 40))
        default: break
        }
        var rows: [LogRow] = []
        var end = after
        for _ in 0..<random.number(0...4) {
            let first = layout.position(after: end + random.number(0...1 << 40), in: partition)
            let last = first + 1024 * random.number(0...1000)
            rows.append(
                LogRow(
                    first: first, last: last, previous: end, partition: Int32(partition), stride: 1024,
                    epoch: random.number(0...1 << 50), data: random.bytes(0...200)))
            end = last
        }
        return .rows(partition: partition, after: after, through: end + random.number(0...1 << 40), rows)
    }

    private func messages(_ bytes: [UInt8], limit: Int, chunk: Int) throws -> [ArraySlice<UInt8>] {
        var buffer = FrameBuffer(limit: limit)
        var found: [ArraySlice<UInt8>] = []
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            buffer.add(Array(bytes[start..<min(start + chunk, bytes.count)]))
            while let message = try buffer.next() { found.append(message) }
        }
        return found
    }

    @Test(arguments: [1, 2, 7, 1 << 20])
    func `messages come out as they went in, whatever pieces their bytes come in`(chunk: Int) throws {
        var random = SeededGenerator(seed: UInt64(chunk))
        let sent = (0..<20).map { _ in FeedFrame((0..<random.number(0...5)).map { _ in fact(&random) }) }
        let bytes = sent.flatMap { $0.encoded() }
        let found = try messages(bytes, limit: FeedFrame.maximumBytes, chunk: chunk)
        #expect(try found.map { try FeedFrame($0, layout) } == sent)
        let asked = (0..<20).map { _ in asks(&random) }
        let asking = try messages(asked.flatMap(FeedAsk.encode), limit: FeedAsk.maximumBytes, chunk: chunk)
        #expect(try asking.map { try FeedAsk.decode($0, layout) } == asked)
    }

    @Test func `no piece of a message is a message`() throws {
        var random = SeededGenerator(seed: 2)
        let frame = Array(FeedFrame((0..<4).map { _ in fact(&random) }).encoded().dropFirst(4))
        for count in 0..<frame.count {
            #expect(throws: FrameError.self) { try FeedFrame(frame[..<count], layout) }
        }
        #expect(throws: FrameError.cut) { try FeedFrame((frame + [0])[...], layout) }
        let asks = Array(FeedAsk.encode(asks(&random)).dropFirst(4))
        for count in 0..<asks.count {
            #expect(throws: FrameError.self) { try FeedAsk.decode(asks[..<count], layout) }
        }
    }

    @Test func `bytes that were changed on the way are an error, or another message that is whole`() throws {
        var random = SeededGenerator(seed: SeedChoice.number("FEED_SEED") ?? 3)
        var refused = 0
        for _ in 0..<20_000 {
            let frame = Array(FeedFrame((0..<2).map { _ in fact(&random) }).encoded().dropFirst(4))
            let changed = random.mutation(of: frame)
            do throws(FrameError) {
                let read = try FeedFrame(changed[...], layout)
                #expect(try FeedFrame(read.encoded().dropFirst(4), layout) == read)
            } catch {
                refused += 1
            }
            let asked = random.mutation(of: Array(FeedAsk.encode(asks(&random)).dropFirst(4)))
            guard let read = try? FeedAsk.decode(asked[...], layout) else { continue }
            #expect(try FeedAsk.decode(FeedAsk.encode(read).dropFirst(4), layout) == read)
        }
        #expect(refused > 5000)
    }

    @Test func `a length beyond what is sent is refused before its bytes come`() throws {
        var buffer = FrameBuffer(limit: 1000)
        buffer.add([0xE9, 3, 0, 0])
        #expect(throws: FrameError.tooLong) { try buffer.next() }
        var whole = FrameBuffer(limit: 1000)
        whole.add([0xE8, 3, 0, 0])
        #expect(try whole.next() == nil)
    }

    @Test func `rows that do not follow each other are refused`() throws {
        let row = LogRow(first: 1024, last: 2048, previous: 0, partition: 0, stride: 1024, data: [1])
        func read(_ change: (inout [LogRow]) -> Void, after: Int64 = 0, through: Int64 = 9000) throws(FrameError) {
            var rows = [row, LogRow(first: 3072, last: 3072, previous: 2048, stride: 1024, data: [])]
            change(&rows)
            let frame = FeedFrame([.rows(partition: 0, after: after, through: through, rows)])
            _ = try FeedFrame(frame.encoded().dropFirst(4), layout)
        }
        try read { _ in }
        #expect(throws: FrameError.disordered) { try read { $0.swapAt(0, 1) } }
        #expect(throws: FrameError.disordered) { try read({ _ in }, after: 1024) }
        #expect(throws: FrameError.outOfRange) { try read({ _ in }, through: 3071) }
        #expect(throws: FrameError.outOfRange) { try read { $0[0].first = 1025 } }
        #expect(throws: FrameError.outOfRange) { try read { $0[0].last = 0 } }
        #expect(throws: FrameError.outOfRange) { try read { $0[0].previous = 1024 } }
        #expect(throws: FrameError.outOfRange) { try read { $0[0].first = -1024 } }
        let base = TimeBase(
            now: Now(elapsed: .max, wallOffset: .max), boottime: 0, boot: Hash128(high: 0, low: 0))
        let records = Array(BatchRows.barrier().dropFirst(Self.headerBytes))
        let place = PartitionPlace(0, of: layout)
        let kicks = BatchRows.make(
            kind: .kicks, records: records, first: 1024, previous: 0, in: place, epoch: 1, base: base)
        #expect(throws: FrameError.outOfRange) { try read { $0 = kicks } }
        let other = FeedFrame([.elsewhere(partition: 8)]).encoded()
        #expect(throws: FrameError.outOfRange) { try FeedFrame(other.dropFirst(4), layout) }
        #expect(throws: FrameError.unknownKind(9)) { try FeedFrame([1, 0, 0, 0, 9], layout) }
        #expect(throws: FrameError.unknownKind(0)) { try FeedAsk.decode([1, 0, 0, 0, 0], layout) }
        #expect(throws: FrameError.outOfRange) { try FeedAsk.decode([255, 255, 255, 255], layout) }
    }
}
