import TestSupport
import Testing

@testable import TimerCore

extension Bench {
    func id(_ slot: SlotIndex) -> String {
        var text: [UInt8] = []
        scheduler.withDefinition(slot) { Definition.appendID($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns one page of a walk, and the place after which the next page begins.
    func page(after place: UInt64?, label: [UInt8]? = nil, limit: Int) -> (ids: [String], next: UInt64?) {
        var members: [(place: UInt64, slot: SlotIndex)] = []
        scheduler.walk(after: place, over: label.map { .labelled($0) } ?? .all) { place, slot in
            members.append((place, slot))
            return members.count < limit
        }
        return (members.map { id($0.slot) }, members.last?.place)
    }
}

/// Walks through all timers, or those of a label.
struct WalkTests {
    @Test(arguments: [1, 3, 50], [nil, Bench.encoded([("all", "x")])] as [[UInt8]?])
    func `a timer that stays is returned exactly once while others come and go`(limit: Int, label: [UInt8]?) throws {
        var random = SeededGenerator(seed: 31)
        let bench = Bench()
        let labels = [("all", "x"), ("some", "y")]
        let staying = Set((0..<300).map { "stay-\($0)" })
        for id in staying.sorted() { try bench.create(rules(.after(1)), id: id, labels: labels) }
        var others = Set<String>()
        var seen: [String: Int] = [:]
        var place: UInt64?
        var pages = 0
        repeat {
            let page = bench.page(after: place, label: label, limit: limit)
            place = page.next
            for id in page.ids { seen[id, default: 0] += 1 }
            for _ in 0..<4 {
                let id = "other-\(random.number(0...200))"
                if others.contains(id) {
                    try bench.delete(id: id)
                    others.remove(id)
                } else {
                    try bench.create(rules(.after(1)), id: id, labels: labels)
                    others.insert(id)
                }
            }
            // The timers that stay are changed as well.
            try bench.replace(rules(.after(2)), id: "stay-\(random.number(0...299))", labels: labels)
            pages += 1
        } while place != nil && pages < 2000
        #expect(place == nil)
        for id in staying { #expect(seen[id] == 1, "\(id)") }
    }

    @Test func `a label's walk has its members alone, in the order of the whole`() throws {
        let bench = Bench()
        for index in 0..<200 { try bench.create(rules(.after(1)), id: "t\(index)", labels: [("n", "\(index % 3)")]) }
        let all = bench.page(after: nil, limit: .max).ids
        #expect(all.count == 200)
        for remainder in 0..<3 {
            let members = bench.page(after: nil, label: Bench.encoded([("n", "\(remainder)")]), limit: .max).ids
            #expect(members == all.filter { Int($0.dropFirst()).map { $0 % 3 == remainder } ?? false })
        }
        #expect(bench.page(after: nil, label: Bench.encoded([("n", "3")]), limit: 5).ids == [])
    }

    @Test func `the order is that of the keyed hash, and holds over a restart`() throws {
        let bench = Bench()
        let ids = (0..<100).map { "t\($0)" }
        for id in ids { try bench.create(rules(.after(1)), id: id) }
        let order = bench.page(after: nil, limit: .max).ids
        #expect(order == ids.sorted { bench.key($0).hash < bench.key($1).hash })
        let half = bench.page(after: nil, limit: 50)
        bench.restart(ids.reversed())
        #expect(half.ids + bench.page(after: half.next, limit: .max).ids == order)
    }

    /// Names whose hashes agree in their upper 32 bits; among 200,000 names about four and a half pairs do.
    private static func colliding(_ bench: Bench) -> [[String]] {
        var byHash: [UInt32: [String]] = [:]
        for number in 0..<200_000 {
            byHash[UInt32(truncatingIfNeeded: bench.key("c\(number)").hash >> 32), default: []].append("c\(number)")
        }
        return byHash.values.filter { $0.count > 1 }
    }

    @Test func `a page may end between timers that share half of their hash`() throws {
        let bench = Bench()
        let pairs = Self.colliding(bench)
        try #require(!pairs.isEmpty)
        let label = Bench.encoded([("l", "")])
        for id in pairs.joined() { try bench.create(rules(.after(1)), id: id, labels: [("l", "")]) }
        for index in 0..<20 { try bench.create(rules(.after(1)), id: "t\(index)", labels: [("l", "")]) }
        let all = bench.page(after: nil, limit: .max).ids
        #expect(all == all.sorted { bench.key($0).hash < bench.key($1).hash })
        for label in [nil, label] {
            var place: UInt64?
            var ids: [String] = []
            repeat {
                let page = bench.page(after: place, label: label, limit: 1)
                place = page.next
                ids += page.ids
            } while place != nil && ids.count <= all.count
            #expect(ids == all)
        }
        for id in pairs.joined() { #expect(bench.exists(id)) }
    }

    @Test func `the rarest label is the one the fewest carry`() throws {
        let bench = Bench()
        for index in 0..<10 {
            try bench.create(
                rules(.after(1)), id: "t\(index)", labels: index < 3 ? [("a", ""), ("b", "")] : [("a", "")])
        }
        let (a, b, none) = (Bench.encoded([("a", "")]), Bench.encoded([("b", "")]), Bench.encoded([("c", "")]))
        #expect(bench.scheduler.narrowest(labels: [a, b]) == .labelled(b))
        #expect(bench.scheduler.narrowest(labels: [a, none, b]) == .labelled(none))
        #expect(bench.scheduler.narrowest(labels: []) == .all)
        #expect(bench.scheduler.narrowest(labels: [a, b], alarming: true) == .alarming)
    }
}
