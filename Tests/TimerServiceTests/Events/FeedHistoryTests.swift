import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

/// Random histories of partitions with skewed clocks, batches that land or are lost, and partitions that are opened anew.
/// Every client, wherever it begins and however it reads, is shown every record that landed once, in the order of ids.
struct FeedHistoryTests {
    /// A stream: what it was shown, and how far it has come.
    private struct Client {
        let begun: Int64
        var cursor: Int64
        var seen: [Int64] = []

        init(at position: Int64) { (begun, cursor) = (position, position) }
    }

    /// One history.
    private struct History {
        static let partitions = 4
        var random: SeededGenerator
        let layout: PartitionLayout
        let parts = Guarded<[FeedPartition]>([])
        let feed: EventFeed
        let readers: ReplayReaders
        var skews: [Int64] = []
        var time: Int64 = 1 << 40
        var landed: [Int64] = []
        var flights: [[Int64]]
        var clients: [Client] = [Client(at: 0)]
        var fault: String?
        /// Position up to which rows may be deleted.
        var horizon: Int64 = 0
        /// How often rows came from memory, and from the stores; and how many slices were parts of rows.
        var (fromMemory, fromStores, cuts) = (0, 0, 0)

        init(_ seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            layout = try #require(PartitionLayout(strided: Self.partitions))
            flights = [[Int64]](repeating: [], count: Self.partitions)
            for number in 0..<Self.partitions {
                let part = try FeedPartition(number, layout)
                parts.withLock { $0.append(part) }
                skews.append(random.number(-40 * 1024...40 * 1024))
            }
            feed = EventFeed(layout) { [parts] in parts.value }
            readers = ReplayReaders(feed)
        }

        mutating func step() throws {
            time += random.number(0...12 * 1024)
            for part in parts.value { part.setClock(time + skews[part.number]) }
            let number = Int(random.number(0...Int64(Self.partitions) - 1))
            let part = parts.value[number]
            switch random.number(0...19) {
            case 0...5 where !part.isBusy:
                let counts = (0..<random.number(1...3)).map { _ in Int(random.number(1...6)) }
                flights[number] = part.take(counts)
            case 6...11: land(number)
            case 12 where part.isBusy:
                part.lose()
                flights[number] = []
            case 13:
                flights[number] = []
                parts.withLock { $0[number] = FeedPartition(after: part) }
            case 14:
                let head = feed.head
                clients.append(Client(at: random.number(min(head, max(horizon, head - 50 * 1024))...head)))
            case 15: try delete(part)
            default: try read(Int(random.number(0...Int64(clients.count) - 1)), most: Int(random.number(1...20)))
            }
        }

        mutating func land(_ number: Int) {
            parts.value[number].land()
            landed += flights[number]
            flights[number] = []
        }

        /// Deletes rows that no client needs any more.
        private mutating func delete(_ part: FeedPartition) throws {
            horizon = clients.reduce(.max) { min($0, $1.cursor) }
            _ = try part.store.delete(upTo: horizon)
        }

        /// Lets a client read up to `most` slices.
        mutating func read(_ index: Int, most: Int) throws {
            var reading = feed.reading(after: clients[index].cursor)
            for _ in 0..<most {
                if random.chance(oneIn: 12) { return try readStores(index) }
                switch reading.next() {
                case .slice(let slice):
                    fromMemory += 1
                    guard show(slice, index) else { return }
                case .none(let newest):
                    clients[index].cursor = max(clients[index].cursor, newest)
                    return
                case .gone: return try readStores(index)
                }
            }
        }

        private mutating func readStores(_ index: Int) throws {
            let cursor = clients[index].cursor
            readers.prune()
            var replay = try MergedReplay(
                feed.sources, layout, after: cursor, end: feed.head, bytes: Int(random.number(1...2000)), readers)
            let found = try replay.read()
            if found.slices.first.map({ $0.previous > cursor }) ?? false { fault = fault ?? "rows are missed" }
            for slice in found.slices {
                fromStores += 1
                guard show(slice, index) else { return }
            }
            if found.through < clients[index].cursor { fault = fault ?? "a read went back" }
            clients[index].cursor = max(clients[index].cursor, found.through)
        }

        /// Shows a client a slice, or its beginning. Returns whether all of it was shown.
        private mutating func show(_ slice: RowSlice, _ index: Int) -> Bool {
            if !slice.isWhole { cuts += 1 }
            for position in stride(from: slice.first, through: slice.last, by: Int(layout.stride)) {
                if position <= clients[index].cursor { fault = fault ?? "\(position) comes twice or too late" }
                clients[index].seen.append(position)
                clients[index].cursor = position
                // A client may be full, or leave, after any event.
                if random.chance(oneIn: 20) { return false }
            }
            return true
        }

        /// Lets everything land, and every client read to the end.
        mutating func finish() throws {
            for number in 0..<Self.partitions { land(number) }
            time += 100 * 1024
            for part in parts.value { part.setClock(time) }
            landed.sort()
            for index in clients.indices {
                var rounds = 0
                while clients[index].cursor < feed.head && rounds < 10_000 && fault == nil {
                    try read(index, most: 20)
                    rounds += 1
                }
                let client = clients[index]
                guard fault == nil, client.seen != landed.filter({ $0 > client.begun }) else { continue }
                fault = "a client from \(client.begun) on was shown \(client.seen.count) records"
            }
        }
    }

    @Test func `every client is shown every record once, in the order of ids`() throws {
        var (fromMemory, fromStores, cuts, records) = (0, 0, 0, 0)
        for seed in UInt64(0)..<200 {
            var history = try History(seed)
            for _ in 0..<250 where history.fault == nil { try history.step() }
            try history.finish()
            #expect(history.fault == nil, "seed \(seed)")
            if history.fault != nil { return }
            fromMemory += history.fromMemory
            fromStores += history.fromStores
            cuts += history.cuts
            records += history.landed.count
        }
        // The histories show what they are for.
        #expect(min(fromMemory, fromStores, cuts, records) > 10_000)
    }
}
