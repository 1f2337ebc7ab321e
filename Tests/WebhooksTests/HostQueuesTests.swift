import Testing

@testable import Webhooks

/// Who comes next.
struct HostQueuesTests {
    private func request(_ host: String, _ serial: Int) -> CourierRequest {
        CourierRequest(serial: UInt64(serial), method: "POST", url: "http://\(host)/", timeoutMs: 1)
    }

    /// Queues with `counts` requests for each host.
    private func queues(_ perHost: Int, _ concurrency: Int, _ counts: KeyValuePairs<String, Int>) -> HostQueues {
        var queues = HostQueues(perHost: perHost, concurrency: concurrency)
        for (host, count) in counts {
            for serial in 0..<count { queues.append(request(host, serial)) }
        }
        return queues
    }

    /// The hosts that come next until none may begin.
    private func drain(_ queues: inout HostQueues) -> [String] {
        var hosts: [String] = []
        while let next = queues.take() { hosts.append(String(next.request.url.dropFirst(7).dropLast())) }
        return hosts
    }

    @Test func `hosts take turns`() {
        var queues = queues(10, 100, ["a": 3, "b": 3, "c": 1])
        #expect(drain(&queues) == ["a", "b", "c", "a", "b", "a", "b"])
        #expect(queues.underWay == 7)
        #expect(queues.waiting == 0)
    }

    @Test func `one host's requests stay in order`() {
        var queues = queues(100, 1000, ["a": 90])
        var serials: [UInt64] = []
        while let next = queues.take() { serials.append(next.request.serial) }
        #expect(serials == Array(0..<90))
    }

    @Test func `a host keeps to its share`() {
        var queues = queues(2, 100, ["a": 5])
        #expect(drain(&queues) == ["a", "a"])
        queues.finished(0)
        #expect(drain(&queues) == ["a"])
    }

    @Test func `a host has at most an eighth of what is free`() {
        var queues = queues(64, 90, ["a": 50])
        #expect(drain(&queues).count == 10)
    }

    @Test(arguments: [1, 5, 20, 40])
    func `hosts that hang leave places for the next one`(hanging: Int) {
        var queues = HostQueues(perHost: 64, concurrency: 1024)
        for host in 0..<hanging {
            for serial in 0..<100 { queues.append(request("dead\(host)", serial)) }
            #expect(!drain(&queues).isEmpty)
        }
        queues.append(request("next", 0))
        #expect(drain(&queues) == ["next"])
    }

    @Test func `a place that is freed goes to who has the fewest`() {
        var queues = queues(64, 4, ["a": 9, "b": 9, "c": 9, "d": 9])
        #expect(drain(&queues) == ["a", "b", "c", "d"])
        queues.append(request("e", 0))
        #expect(drain(&queues) == [])
        queues.finished(0)
        #expect(drain(&queues) == ["e"])
    }

    @Test func `all that waits can be taken out`() {
        var queues = queues(1, 100, ["a": 3, "b": 2])
        let first = queues.take()
        #expect(queues.removeWaiting().count == 4)
        #expect(queues.waiting == 0)
        #expect(queues.take() == nil)
        queues.finished(first?.place ?? -1)
        queues.append(request("b", 7))
        #expect(drain(&queues) == ["b"])
    }

    @Test(arguments: [1, 7, 1234])
    func `counts and order hold over a long history`(seed: UInt64) {
        var random = seed
        func next(_ bound: UInt64) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % bound)
        }
        var queues = HostQueues(perHost: 5, concurrency: 20)
        var underWay: [(place: Int, host: String)] = []
        var expected: [String: [UInt64]] = [:]
        for serial in 0..<5000 {
            let host = "h\(next(9))"
            if next(3) > 0 {
                queues.append(request(host, serial))
                expected[host, default: []].append(UInt64(serial))
            }
            if next(2) == 0, let (taken, place) = queues.take() {
                let host = String(taken.url.dropFirst(7).dropLast())
                #expect(expected[host]?.removeFirst() == taken.serial)
                underWay.append((place, host))
            }
            if next(3) > 0, !underWay.isEmpty {
                queues.finished(underWay.remove(at: next(UInt64(underWay.count))).place)
            }
            #expect(queues.underWay == underWay.count)
            #expect(queues.waiting == expected.values.reduce(0) { $0 + $1.count })
            #expect(Dictionary(grouping: underWay, by: \.host).values.allSatisfy { $0.count <= 5 })
        }
    }

    @Test(arguments: [
        ("http://Example.com/a", "http://example.com"), ("http://example.com:80", "http://example.com"),
        ("HTTPS://example.com:443?x", "https://example.com"), ("https://example.com:80/", "https://example.com:80"),
        ("http://[::1]:8080#x/y", "http://[::1]:8080"), ("nonsense", "nonsense"), ("", ""),
    ])
    func `a host is scheme, name and port`(url: String, host: String) {
        #expect(HostQueues.host(of: url) == host)
    }
}
