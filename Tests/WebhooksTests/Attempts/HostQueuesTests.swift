import TestSupport
import Testing

@testable import Webhooks

/// The host whose delivery begins next.
struct HostQueuesTests {
    /// Queues with `counts` elements for each host, each of which is the host's name.
    private func queues(
        _ perHost: Int, _ concurrency: Int, _ counts: KeyValuePairs<String, Int>
    ) -> HostQueues<String> {
        var queues = HostQueues<String>(perHost: perHost, concurrency: concurrency)
        for (host, count) in counts {
            for _ in 0..<count { queues.append(host, host: host) }
        }
        return queues
    }

    /// The hosts in the order in which they may begin, until none may.
    private func drain(_ queues: inout HostQueues<String>) -> [String] {
        var hosts: [String] = []
        while let next = queues.take() { hosts.append(next.element) }
        return hosts
    }

    @Test func `hosts take turns`() {
        var queues = queues(10, 100, ["a": 3, "b": 3, "c": 1])
        #expect(drain(&queues) == ["a", "b", "c", "a", "b", "a", "b"])
        #expect(queues.underWay == 7)
        #expect(queues.waiting == 0)
    }

    @Test func `what waits for one host stays in order`() {
        var queues = HostQueues<Int>(perHost: 100, concurrency: 1000)
        for number in 0..<90 { queues.append(number, host: "a") }
        var numbers: [Int] = []
        while let next = queues.take() { numbers.append(next.element) }
        #expect(numbers == Array(0..<90))
    }

    @Test func `a host keeps to its share`() {
        var queues = queues(2, 100, ["a": 5])
        #expect(drain(&queues) == ["a", "a"])
        queues.finished(0)
        #expect(drain(&queues) == ["a"])
    }

    @Test func `a place that is taken counts among those of its host`() throws {
        var queues = queues(2, 100, ["a": 3])
        let place = queues.takePlace(host: "a")
        #expect(drain(&queues) == ["a"])
        let second = queues.takePlace(host: "a")
        #expect(second == nil)
        #expect((queues.underWay, queues.waiting) == (2, 2))
        queues.finished(try #require(place))
        #expect(drain(&queues) == ["a"])
    }

    @Test func `a place of a host without a queue leaves nothing behind`() {
        var queues = HostQueues<String>(perHost: 1, concurrency: 2)
        let places = ["a", "a", "b", "c"].map { queues.takePlace(host: $0) }
        #expect(places.map { $0 != nil } == [true, false, true, false])
        for place in places.compactMap(\.self) { queues.finished(place) }
        #expect(queues.underWay == 0)
        queues.append("c", host: "c")
        #expect(drain(&queues) == ["c"])
    }

    @Test func `a host has at most an eighth of what is free`() {
        var queues = queues(64, 90, ["a": 50])
        #expect(drain(&queues).count == 10)
    }

    @Test(arguments: [1, 5, 20, 40])
    func `hosts that hang leave places for the next one`(hanging: Int) {
        var queues = queues(64, 1024, [:])
        for host in 0..<hanging {
            for _ in 0..<100 { queues.append("dead", host: "dead\(host)") }
            #expect(!drain(&queues).isEmpty)
        }
        queues.append("next", host: "next")
        #expect(drain(&queues) == ["next"])
    }

    @Test func `a freed place goes to the host that has the fewest`() {
        var queues = queues(64, 4, ["a": 9, "b": 9, "c": 9, "d": 9])
        #expect(drain(&queues) == ["a", "b", "c", "d"])
        queues.append("e", host: "e")
        #expect(drain(&queues) == [])
        queues.finished(0)
        #expect(drain(&queues) == ["e"])
    }

    @Test func `what waits can be forgotten, what is under way goes on`() {
        var queues = HostQueues<Int64>(perHost: 2, concurrency: 100)
        for element in 0..<10 as Range<Int64> { queues.append(element, host: element < 5 ? "a" : "b") }
        let first = queues.take()
        queues.removeWaiting()
        #expect(queues.waiting == 0 && queues.underWay == 1)
        #expect(queues.take() == nil)
        queues.append(20, host: "a")
        queues.append(21, host: "a")
        #expect(queues.take()?.element == 20)
        #expect(queues.take() == nil)
        if let first { queues.finished(first.place) }
        #expect(queues.take()?.element == 21)
    }

    @Test(arguments: [1, 7, 1234])
    func `counts and order hold over a long history`(seed: UInt64) {
        var random = seed
        func next(_ bound: UInt64) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % bound)
        }
        var queues = HostQueues<(host: String, serial: Int)>(perHost: 5, concurrency: 20)
        var underWay: [(place: Int, host: String)] = []
        var expected: [String: [Int]] = [:]
        for serial in 0..<5000 {
            let host = "h\(next(9))"
            if next(3) > 0 {
                queues.append((host, serial), host: host)
                expected[host, default: []].append(serial)
            }
            if next(2) == 0, let (taken, place) = queues.take() {
                #expect(expected[taken.host]?.removeFirst() == taken.serial)
                underWay.append((place, taken.host))
            }
            if next(3) > 0, !underWay.isEmpty {
                queues.finished(underWay.remove(at: next(UInt64(underWay.count))).place)
            }
            #expect(queues.underWay == underWay.count)
            #expect(queues.waiting == expected.values.reduce(0) { $0 + $1.count })
            #expect(Dictionary(grouping: underWay, by: \.host).values.allSatisfy { $0.count <= 5 })
        }
    }
}
