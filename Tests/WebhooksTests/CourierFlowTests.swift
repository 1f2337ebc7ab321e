import Platform
import Testing
import Webhooks

/// How many go out at once, to whom, and what becomes of them at the end.
struct CourierFlowTests {
    /// Counts visits under way, and the most there were.
    private final class Crowd: @unchecked Sendable {  // unchecked: guarded by `lock`
        private let lock = Lock()
        private var now = 0
        private var most = 0
        func enter() {
            lock.withLock {
                now += 1
                most = max(most, now)
                lock.signal()
            }
        }
        func leave() { lock.withLock { now -= 1 } }
        func wait(_ count: Int) { lock.withLock { while now < count { lock.wait() } } }
        var peak: Int { lock.withLock { most } }
    }

    /// A receiver whose visitors never get an answer.
    private func hanging(_ crowd: Crowd) -> Receiver {
        Receiver { visit in
            crowd.enter()
            visit.waitForEnd()
            return .close
        }
    }

    private func fast() -> Receiver {
        Receiver { visit in
            visit.answer(200)
            return .keep
        }
    }

    @Test func `a connection serves one request after another`() {
        let receiver = fast()
        var limits = CourierLimits()
        limits.perHost = 1
        let results = CourierHarness(limits).exchange(Array(repeating: receiver.base + "/", count: 50))
        receiver.stop()
        #expect(results.allSatisfy { $0.status == 200 })
        #expect(receiver.connections == 1)
    }

    @Test func `requests to one host go out in order`() {
        let receiver = fast()
        var limits = CourierLimits()
        limits.perHost = 1
        _ = CourierHarness(limits).exchange((0..<20).map { "\(receiver.base)/\($0)" })
        receiver.stop()
        let paths = receiver.requests.compactMap { $0.split(separator: " ").dropFirst().first }
        #expect(paths == (0..<20).map { "/\($0)" })
    }

    @Test func `a connection that was closed meanwhile costs nothing`() {
        let receiver = Receiver { visit in
            visit.answer(200)
            return .close
        }
        var limits = CourierLimits()
        limits.perHost = 1
        let results = CourierHarness(limits).exchange(Array(repeating: receiver.base + "/", count: 5))
        receiver.stop()
        #expect(results.map(\.status) == Array(repeating: 200, count: 5))
    }

    @Test func `a host never has more than its share at once`() {
        let crowd = Crowd()
        let gate = Gate()
        let receiver = Receiver { visit in
            crowd.enter()
            gate.pass()
            crowd.leave()
            visit.answer(200)
            return .keep
        }
        var limits = CourierLimits()
        limits.perHost = 4
        let harness = CourierHarness(limits)
        harness.courier.submit(CourierHarness.posts(Array(repeating: receiver.base, count: 40)))
        crowd.wait(4)
        #expect(harness.courier.waiting == 36)
        gate.open()
        #expect(harness.results.wait(40).allSatisfy { $0.status == 200 })
        receiver.stop()
        #expect(crowd.peak == 4)
        #expect(harness.courier.waiting == 0)
    }

    @Test func `hosts that hang delay nobody`() {
        let crowd = Crowd()
        let dead = (0..<4).map { _ in hanging(crowd) }
        let receiver = fast()
        var limits = CourierLimits()
        limits.perHost = 8
        limits.concurrency = 64
        let harness = CourierHarness(limits)
        let toDead = dead.flatMap { Array(repeating: $0.base, count: 50) }
        harness.courier.submit(CourierHarness.posts(toDead, from: 1000, timeoutMs: 3_600_000))
        // Each of the four comes to an eighth of what the others leave.
        crowd.wait(20)
        let results = harness.exchange(Array(repeating: receiver.base, count: 100))
        #expect(results.count == 100)
        #expect(results.allSatisfy { $0.status == 200 && $0.serial <= 100 })
        harness.courier.stop(deadlineSeconds: 0)
        #expect(harness.results.wait(300).count == 300)
        for receiver in dead + [receiver] { receiver.stop() }
    }

    @Test func `a stop gives every request its result`() {
        let crowd = Crowd()
        let receiver = hanging(crowd)
        var limits = CourierLimits()
        limits.perHost = 2
        let harness = CourierHarness(limits)
        harness.courier.submit(CourierHarness.posts(Array(repeating: receiver.base, count: 5)))
        crowd.wait(2)
        harness.courier.stop(deadlineSeconds: 0)
        #expect(harness.results.count == 5)
        let errors = harness.results.wait(5).map(\.error)
        #expect(errors.count { $0 == "given up: stopping" } == 2)
        #expect(errors.count { $0 == "not sent: stopping" } == 3)
        #expect(harness.courier.inFlight == 0)
        #expect(harness.courier.waiting == 0)
        receiver.stop()
    }

    @Test func `a stop lets what is under way end`() {
        let crowd = Crowd()
        let gate = Gate()
        let receiver = Receiver { visit in
            crowd.enter()
            gate.pass()
            visit.answer(200)
            return .close
        }
        let harness = CourierHarness()
        harness.courier.submit(CourierHarness.posts([receiver.base]))
        crowd.wait(1)
        let stopping = Thread(name: "stopping") { harness.courier.stop(deadlineSeconds: 3600) }
        gate.open()
        stopping.join()
        #expect(harness.results.wait(1)[0].status == 200)
        receiver.stop()
    }

    @Test func `without a start a stop answers too`() {
        let harness = CourierHarness(isStarted: false)
        harness.courier.submit(CourierHarness.posts(["http://127.0.0.1:9/"]))
        harness.courier.stop(deadlineSeconds: 0)
        #expect(harness.results.wait(1)[0].error == "not sent: stopping")
    }

    @Test func `what is submitted after a stop is dropped`() {
        let harness = CourierHarness()
        harness.courier.stop(deadlineSeconds: 0)
        harness.courier.submit(CourierHarness.posts(["http://127.0.0.1:9/"]))
        harness.courier.stop(deadlineSeconds: 0)
        #expect(harness.results.count == 0)
        #expect(harness.courier.waiting == 0)
    }

    @Test func `above the bound requests fail at once`() {
        let crowd = Crowd()
        let receiver = hanging(crowd)
        var limits = CourierLimits()
        limits.perHost = 1
        limits.waiting = 3
        let harness = CourierHarness(limits)
        harness.courier.submit(CourierHarness.posts([receiver.base]))
        crowd.wait(1)
        harness.courier.submit(CourierHarness.posts(Array(repeating: receiver.base, count: 5), from: 2))
        let results = harness.results.wait(2)
        #expect(results.map(\.serial) == [5, 6])
        #expect(results.map(\.error) == Array(repeating: "not sent: 3 others wait already", count: 2))
        harness.courier.stop(deadlineSeconds: 0)
        receiver.stop()
    }

    @Test func `many threads may submit`() {
        let receiver = fast()
        let harness = CourierHarness()
        let threads = (0..<4).map { index in
            Thread(name: "submit") {
                for serial in 0..<50 {
                    harness.courier.submit(
                        CourierHarness.posts([receiver.base], from: UInt64(index * 50 + serial + 1)))
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(harness.results.wait(200).map(\.serial) == Array(1...200))
        #expect(harness.results.wait(200).allSatisfy { $0.status == 200 })
        receiver.stop()
        #expect(receiver.connections <= 64)
    }
}
