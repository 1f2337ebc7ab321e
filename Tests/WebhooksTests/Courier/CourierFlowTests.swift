import Platform
import TestSupport
import Testing
import TimerCore
import Webhooks

/// The number of requests that are under way at once, and their results after a stop.
struct CourierFlowTests {
    /// A receiver that never answers.
    private func hanging(_ visits: Guarded<Int>) -> Receiver {
        Receiver { visit in
            visits.update { $0 += 1 }
            visit.waitForEnd()
            return .close
        }
    }

    /// Counts a visit. Returns true for the first, the third, the fifth and so on.
    private static func isOdd(_ visits: Guarded<Int>) -> Bool {
        visits.withLock { visits in
            visits += 1
            return !visits.isMultiple(of: 2)
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
        let results = CourierHarness().exchangeInTurn(Array(repeating: receiver.base + "/", count: 50))
        receiver.stop()
        #expect(results.allSatisfy { $0.status == 200 })
        #expect(receiver.connections == 1)
    }

    @Test func `a connection that was closed meanwhile costs nothing`() {
        let receiver = Receiver { visit in
            visit.answer(200)
            return .close
        }
        let results = CourierHarness().exchangeInTurn(Array(repeating: receiver.base + "/", count: 5))
        receiver.stop()
        #expect(results.map(\.status) == Array(repeating: 200, count: 5))
    }

    @Test func `a kept connection that ends without a word is no attempt, however often`() {
        let visits = Guarded(0)
        let receiver = Receiver { visit in
            // Each connection answers once, and is closed on its second request.
            guard Self.isOdd(visits) else { return .close }
            visit.answer(200)
            return .keep
        }
        let results = CourierHarness().exchangeInTurn(Array(repeating: receiver.base + "/", count: 30))
        receiver.stop()
        #expect(results.map(\.status) == Array(repeating: 200, count: 30))
    }

    @Test func `a kept connection that ends within an answer is an attempt`() {
        let visits = Guarded(0)
        let receiver = Receiver { visit in
            guard Self.isOdd(visits) else {
                visit.send("HTTP/1.1 200 OK\r\n")
                return .close
            }
            visit.answer(200)
            return .keep
        }
        let results = CourierHarness().exchangeInTurn(Array(repeating: receiver.base + "/", count: 3))
        receiver.stop()
        #expect(results.map(\.status) == [200, 0, 200])
        #expect(results[1].failure != nil)
    }

    @Test func `whatever is submitted begins at once`() {
        let visits = Guarded(0)
        let receiver = hanging(visits)
        let harness = CourierHarness()
        harness.courier.submit(CourierHarness.posts(Array(repeating: receiver.base, count: 100)))
        visits.wait { $0 < 100 ? nil : () }
        #expect(harness.courier.inFlight == 100)
        harness.courier.stop(deadlineSeconds: 0)
        receiver.stop()
    }

    @Test func `exchanges that hang delay no other`() {
        let visits = Guarded(0)
        let dead = (0..<4).map { _ in hanging(visits) }
        let receiver = fast()
        let harness = CourierHarness()
        let toDead = dead.flatMap { Array(repeating: $0.base, count: 40) }
        harness.courier.submit(CourierHarness.posts(toDead, from: 1000, timeoutMs: 3_600_000))
        visits.wait { $0 < 160 ? nil : () }
        let results = harness.exchange(Array(repeating: receiver.base, count: 100))
        #expect(results.count == 100)
        #expect(results.allSatisfy { $0.status == 200 && $0.serial <= 100 })
        harness.courier.stop(deadlineSeconds: 0)
        #expect(harness.results.wait(260).count == 260)
        for receiver in dead + [receiver] { receiver.stop() }
    }

    @Test func `a stop gives every request its result`() {
        let visits = Guarded(0)
        let receiver = hanging(visits)
        let harness = CourierHarness()
        harness.courier.submit(CourierHarness.posts(Array(repeating: receiver.base, count: 5)))
        visits.wait { $0 < 5 ? nil : () }
        harness.courier.stop(deadlineSeconds: 0)
        #expect(harness.results.count == 5)
        #expect(harness.results.wait(5).allSatisfy { $0.failure == .interrupted && $0.error == "ended: stopping" })
        #expect(harness.courier.inFlight == 0)
        receiver.stop()
    }

    @Test func `a stop lets what is under way end`() {
        let visits = Guarded(0)
        let gate = Gate()
        let receiver = Receiver { visit in
            visits.update { $0 += 1 }
            gate.pass()
            visit.answer(200)
            return .close
        }
        let harness = CourierHarness()
        harness.courier.submit(CourierHarness.posts([receiver.base]))
        visits.wait { $0 < 1 ? nil : () }
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
        let result = harness.results.wait(1)[0]
        #expect(result.failure == .interrupted && result.error == "not sent: stopping")
    }

    @Test func `what is submitted after a stop is dropped`() {
        let harness = CourierHarness()
        harness.courier.stop(deadlineSeconds: 0)
        harness.courier.submit(CourierHarness.posts(["http://127.0.0.1:9/"]))
        harness.courier.stop(deadlineSeconds: 0)
        #expect(harness.results.count == 0)
    }

    @Test func `above the bound requests fail at once`() {
        let visits = Guarded(0)
        let receiver = hanging(visits)
        var limits = CourierLimits()
        limits.transfers = 3
        let harness = CourierHarness(limits)
        harness.courier.submit(CourierHarness.posts(Array(repeating: receiver.base, count: 5)))
        visits.wait { $0 < 3 ? nil : () }
        let results = harness.results.wait(2)
        #expect(results.map(\.serial) == [4, 5])
        #expect(results.allSatisfy { $0.failure == .interrupted })
        #expect(results.allSatisfy { $0.error == "not sent: 3 exchanges are under way already" })
        harness.courier.stop(deadlineSeconds: 0)
        receiver.stop()
    }

    @Test func `a result makes room for the next request`() {
        let receiver = fast()
        var limits = CourierLimits()
        limits.transfers = 1
        let results = CourierHarness(limits).exchangeInTurn(Array(repeating: receiver.base, count: 200))
        receiver.stop()
        #expect(results.allSatisfy { $0.status == 200 })
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
    }
}
