import TestSupport
import Testing

@testable import TimerCore

/// Timers of one partition, whose hashes begin with the same bits.
struct HashPrefixTests {
    private static func prefix(_ bits: Int, _ number: Int) throws -> HashPrefix {
        try #require(HashPrefix(bits: bits, number: number))
    }

    /// A hash that begins with the `bits` bits that are `number`, the others those of `rest` from its top on.
    private static func hash(_ bits: Int, _ number: Int, _ rest: UInt64) -> UInt64 {
        bits == 0 ? rest : UInt64(number) << UInt64(64 - bits) | rest >> UInt64(bits)
    }

    @Test(arguments: [(-1, 0), (17, 0), (0, 1), (3, 8), (3, -1)])
    func `a prefix has a few bits, and its number fits into them`(bits: Int, number: Int) {
        #expect(HashPrefix(bits: bits, number: number) == nil)
    }

    @Test(arguments: [(0, 0), (1, 1), (3, 5), (10, 0), (10, 613), (10, 1023), (16, 65_535)])
    func `what an index keeps of a hash tells its top half, and has the order of the whole`(
        bits: Int, number: Int
    ) throws {
        let prefix = try Self.prefix(bits, number)
        var random = SeededGenerator(seed: 3)
        let hashes = ([0, .max] + (0..<200).map { _ in random.next() }).map { Self.hash(bits, number, $0) }
        for hash in hashes {
            let indexed = prefix.indexed(hash)
            let half = UInt32(hash >> 32)
            #expect(prefix.topHalf(indexed) == half)
            #expect(prefix.indexed(topHalf: half)?.contains(indexed) == true)
            #expect(prefix.indexed(topHalf: half)?.count == 1 << bits)
            #expect(prefix.indexed(from: hash) == indexed)
            if bits > 0 { #expect(prefix.indexed(topHalf: ~half) == nil) }
        }
        #expect(hashes.sorted().map(prefix.indexed) == hashes.map(prefix.indexed).sorted())
        #expect(prefix.indexed(from: 0) == (number == 0 ? prefix.indexed(0) : 0))
        #expect(prefix.indexed(from: .max) == (number == 1 << bits - 1 ? .max : nil))
    }

    @Test(arguments: [(0, 0), (10, 613)])
    func `an index is as large whether or not its timers' hashes begin with the same bits`(
        bits: Int, number: Int
    ) throws {
        var table = TimerTable(secret: [], hashPrefix: try Self.prefix(bits, number))
        var random = SeededGenerator(seed: 7)
        let definition = Bench.definition("a", rules(.after(1)))
        let count = 20_000
        for _ in 0..<count {
            let hash = Self.hash(bits, number, random.next())
            _ = table.insertUnindexed(hash, definition: definition.span, progress: TimerProgress())
        }
        table.indexRest()
        let size = table.byID.size
        #expect(table.byID.count == count)
        #expect(size.fullestPage <= HashOrderedIndex.pageCapacity)
        #expect((count / 64...count / 32).contains(size.pages))
        #expect((size.pages...4 * size.pages).contains(size.directory))
    }

    /// Pages of a walk over several schedulers, one after the other, of at most `limit` timers.
    private static func walk(_ benches: [Bench], label: [UInt8]?, limit: Int) -> [String] {
        var ids: [String] = []
        var after: UInt64?
        for bench in benches {
            while true {
                let page = bench.page(after: after, label: label, limit: limit)
                ids += page.ids
                guard let next = page.next else { break }
                after = next
            }
        }
        return ids
    }

    @Test(arguments: [1, 2, 7, .max], [nil, Bench.encoded([("l", "")])] as [[UInt8]?])
    func `a walk over all partitions in turn has the order of one over all timers`(
        limit: Int, label: [UInt8]?
    ) throws {
        let bits = 3
        let whole = Bench()
        let parts = try (0..<1 << bits).map { Bench(hashPrefix: try Self.prefix(bits, $0)) }
        for id in (0..<400).map({ "t\($0)" }) {
            let owner = parts[Int(whole.key(id).hash >> UInt64(64 - bits))]
            for bench in [whole, owner] { try bench.create(rules(.after(1)), id: id, labels: [("l", "")]) }
        }
        let order = whole.page(after: nil, label: label, limit: .max).ids
        #expect(order.count == 400)
        #expect(Self.walk(parts, label: label, limit: limit) == order)
        // A place of the whole is one in each partition: behind it is what the whole has behind it there.
        let middle = whole.page(after: nil, label: label, limit: 200)
        let rest = parts.flatMap { $0.page(after: middle.next, label: label, limit: .max).ids }
        #expect(middle.ids + rest == order)
    }

    @Test func `what leaves a partition's scheduler is the top half of the whole hash, and leads back`() throws {
        let bits = 4
        let names = (0..<400).map { "t\($0)" }
        let parts = try (0..<1 << bits).map { Bench(hashPrefix: try Self.prefix(bits, $0)) }
        for (index, id) in names.enumerated() {
            let key = parts[0].key(id)
            let bench = parts[Int(key.hash >> UInt64(64 - bits))]
            try bench.create(rules(.watchdog(1000)), id: id)
            let slot = try bench.slot(id)
            _ = bench.scheduler.stamp(slot, position: Int64(index) + 1, isBase: true, isEvent: true)
        }
        for (index, id) in names.enumerated() {
            let key = parts[0].key(id)
            let half = UInt32(key.hash >> 32)
            for (number, bench) in parts.enumerated() {
                let slot = bench.scheduler.find(hash: half, base: Int64(index) + 1)
                #expect(slot == (try? bench.slot(id)))
                #expect((slot != nil) == (number == Int(key.hash >> UInt64(64 - bits))))
                if let slot { #expect(bench.scheduler.hash(slot) == half) }
                #expect(bench.scheduler.find(hash: half, base: 0) == nil)
            }
        }
    }

    @Test func `timers of a partition that share the top half of their hash are told apart by their base`() throws {
        var table = TimerTable(secret: [], hashPrefix: try Self.prefix(10, 613))
        let definition = Bench.definition("a", rules(.after(1)))
        // They differ in the bits that an index keeps below the top half, or below all that it keeps.
        let hashes = [0, 1, 1 << 22, 1 << 31].map { Self.hash(10, 613, 0x1234_5678 << 32) | $0 }
        for (index, hash) in hashes.enumerated() {
            let slot = table.insertUnindexed(hash, definition: definition.span, progress: TimerProgress())
            _ = table.stamp(slot, position: Int64(index) + 1, isBase: true, isEvent: true)
        }
        table.indexRest()
        let half = UInt32(hashes[0] >> 32)
        #expect((1...4).map { table.find(hash: half, base: $0) } == [0, 1, 2, 3])
        #expect(table.find(hash: half - 1, base: 1) == nil && table.find(hash: half + 1, base: 1) == nil)
        table.unlink(1)
        #expect((1...4).map { table.find(hash: half, base: $0) } == [0, nil, 2, 3])
    }
}
