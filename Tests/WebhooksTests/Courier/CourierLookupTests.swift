import Platform
import TestSupport
import Testing
import TimerCore
import Webhooks

/// The lookup of names.
struct CourierLookupTests {
    /// Name servers that answer for names that begin with `well`, and for others once `speak` was called.
    private final class Names: Sendable {
        private struct State {
            var isSilent = true
            var asked: [String] = []
            var underWay = 0
            var most = 0
        }

        private let state = Guarded(State())

        func lookUp(_ name: String) -> [[UInt8]] {
            let answersAtOnce = name.hasPrefix("well")
            state.update { state in
                state.asked.append(name)
                state.most = max(state.most, state.underWay + 1)
                if !answersAtOnce { state.underWay += 1 }
            }
            if answersAtOnce { return [[127, 0, 0, 1]] }
            state.wait { (state: inout State) -> Void? in
                if state.isSilent { return nil }
                state.underWay -= 1
                return ()
            }
            return name.hasPrefix("none") ? [] : [[127, 0, 0, 1]]
        }

        func speak() { state.update { $0.isSilent = false } }

        func waitForLookups(_ count: Int) { state.wait { $0.underWay < count ? nil : () } }
        var all: [String] { state.withLock { $0.asked } }
        var mostAtOnce: Int { state.withLock { $0.most } }
    }

    private func taking() -> Receiver {
        Receiver { visit in
            visit.answer(200)
            return .keep
        }
    }

    private func harness(_ names: Names, lookups: Int) -> CourierHarness {
        var limits = CourierLimits()
        limits.lookups = lookups
        return CourierHarness(limits, lookUp: names.lookUp)
    }

    @Test(arguments: ["well.test", "WELL.test", "well.test.", "well-1.test"])
    func `a name leads to the address that was found`(name: String) {
        let receiver = taking()
        let names = Names()
        let harness = harness(names, lookups: 1)
        let results = harness.exchangeInTurn(Array(repeating: "http://\(name):\(receiver.port)/", count: 3))
        receiver.stop()
        #expect(results.map(\.status) == [200, 200, 200])
        #expect(names.all == [name.lowercased()])
        #expect(receiver.requests.allSatisfy { $0.contains("Host: \(name):\(receiver.port)\r\n") })
    }

    @Test func `of several addresses the next is tried where one has no listener`() {
        let receiver = taking()
        let harness = CourierHarness(lookUp: { _ in [[127, 0, 0, 77], [127, 0, 0, 1]] })
        #expect(harness.exchange(["http://two.test:\(receiver.port)/"])[0].status == 200)
        receiver.stop()
    }

    @Test func `addresses that were found are judged`() {
        let harness = CourierHarness(
            judge: { _, address in address.bytes == [169, 254, 169, 254] ? "link-local" : nil },
            lookUp: { _ in [[169, 254, 169, 254]] })
        #expect(harness.exchange(["http://sly.test/"])[0].error == "refused: link-local")
    }

    @Test func `a name without addresses is unresolved`() {
        let harness = CourierHarness(lookUp: { _ in [] })
        let result = harness.exchange(["http://none.test/"])[0]
        #expect(result.failure == .unresolved && result.error == "the host has no address: none.test")
    }

    @Test func `silent name servers keep a bounded number of threads, and known names are found beside them`() throws {
        let receiver = taking()
        let names = Names()
        let harness = harness(names, lookups: 4)
        // This name was found before, and one of the four threads stays free for such known names.
        #expect(harness.exchange(["http://well.test:\(receiver.port)/"])[0].status == 200)
        let silent = (0..<40).map { "http://silent-\($0).test/" }
        harness.courier.submit(CourierHarness.posts(Array(silent[..<3]), from: 100, timeoutMs: 2000))
        names.waitForLookups(3)
        let late = Clocks.monotonic() + 2_000_000_000
        harness.courier.submit(CourierHarness.posts(Array(silent[3...]), from: 103, timeoutMs: 100))
        // A lookup that waits for a thread in vain times out; one that is under way keeps its thread.
        #expect(harness.results.wait(38).dropFirst().allSatisfy { $0.failure == .timedOut })
        harness.courier.submit(CourierHarness.posts(["http://well.test:\(receiver.port)/"], from: 2))
        #expect(harness.results.wait(39)[1].status == 200)
        #expect(harness.courier.inFlight == 3)
        #expect(names.mostAtOnce == 3)
        try eventually("the time of the first three is over") { Clocks.monotonic() > late }
        names.speak()
        #expect(harness.results.wait(42).dropFirst(2).allSatisfy { $0.failure == .timedOut })
        #expect(harness.courier.inFlight == 0)
        harness.courier.stop(deadlineSeconds: 0)
        receiver.stop()
    }

    @Test func `many requests to one name need one lookup, and a stop does not wait for it`() {
        let names = Names()
        let harness = harness(names, lookups: 4)
        harness.courier.submit(CourierHarness.posts(Array(repeating: "http://silent.test/", count: 50)))
        names.waitForLookups(1)
        harness.courier.stop(deadlineSeconds: 0)
        #expect(harness.results.wait(50).allSatisfy { $0.failure == .interrupted && $0.error == "ended: stopping" })
        #expect(names.all == ["silent.test"])
        names.speak()
    }
}
