import Foundation
import Platform
import TestSupport
import Testing
import TimerCore
import Webhooks

/// The addresses that the courier may connect to.
struct CourierJudgeTests {
    /// The questions that the judge was asked.
    private final class Questions: Sendable {
        private let all = Guarded<[String]>([])

        func note(_ host: String, _ address: CourierAddress) {
            let bytes = address.bytes.map(String.init).joined(separator: ".")
            all.withLock { $0.append("\(host) \(bytes) \(address.port)") }
        }

        var asked: [String] { all.value }
    }

    private func receiver() -> Receiver {
        Receiver { visit in
            visit.answer(200)
            return .keep
        }
    }

    @Test func `a refused address is not connected to, and the reason is told`() {
        let receiver = receiver()
        let result = CourierHarness(judge: { _, _ in "127.0.0.0/8 is denied" }).exchange([receiver.base])[0]
        receiver.stop()
        #expect(result.status == 0)
        #expect(result.failure == .refused && result.error == "refused: 127.0.0.0/8 is denied")
        #expect(receiver.connections == 0)
    }

    @Test func `the judge sees the name, and the address behind it`() {
        let receiver = receiver()
        let questions = Questions()
        let harness = CourierHarness(judge: { host, address in
            questions.note(host, address)
            return address.bytes.count == 4 ? nil : "IPv6"
        })
        #expect(harness.exchange(["http://LocalHost:\(receiver.port)/a"])[0].status == 200)
        receiver.stop()
        #expect(questions.asked.contains("localhost 127.0.0.1 \(receiver.port)"))
    }

    @Test(arguments: ["2130706433", "0x7f000001", "127.1", "0177.0.0.1"])
    func `an address spelled oddly is judged as what it is`(host: String) {
        let questions = Questions()
        let harness = CourierHarness(judge: { host, address in
            questions.note(host, address)
            return "no"
        })
        #expect(harness.exchange(["http://\(host):9/"])[0].error == "refused: no")
        #expect(questions.asked == ["127.0.0.1 127.0.0.1 9"])
    }

    @Test func `an IPv6 address is judged`() {
        let questions = Questions()
        let harness = CourierHarness(judge: { host, address in
            questions.note(host, address)
            return "no"
        })
        #expect(harness.exchange(["http://[::1]:9/"])[0].error == "refused: no")
        #expect(questions.asked == ["[::1] 0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1 9"])
    }

    @Test func `a refusal of one request does not stick to the next`() {
        let receiver = receiver()
        let calls = Questions()
        let harness = CourierHarness(judge: { host, address in
            calls.note(host, address)
            return calls.asked.count == 1 ? "the first" : nil
        })
        #expect(harness.exchange([receiver.base])[0].error == "refused: the first")
        harness.courier.submit(CourierHarness.posts([receiver.base], from: 2))
        #expect(harness.results.wait(2)[1].status == 200)
        receiver.stop()
    }

    @Test func `a kept connection is judged before each request`() {
        let receiver = receiver()
        let calls = Questions()
        let harness = CourierHarness(judge: { host, address in
            calls.note(host, address)
            return calls.asked.count == 1 ? nil : "denied since"
        })
        #expect(harness.exchange([receiver.base])[0].status == 200)
        harness.courier.submit(CourierHarness.posts([receiver.base], from: 2))
        #expect(harness.results.wait(2)[1].error == "refused: denied since")
        receiver.stop()
        #expect(receiver.connections == 1 && receiver.requests.count == 1)
        #expect(calls.asked == [String](repeating: "127.0.0.1 127.0.0.1 \(receiver.port)", count: 2))
    }

    @Test func `a proxy is used where one is given`() throws {
        let proxy = receiver()
        var limits = CourierLimits()
        limits.proxy = proxy.base
        let harness = CourierHarness(limits, judge: { _, _ in "not asked" }, lookUp: { _ in [] })
        let result = harness.exchange(["http://example.invalid/a"])[0]
        proxy.stop()
        #expect(result.status == 200)
        #expect(try #require(proxy.requests.first).hasPrefix("POST http://example.invalid/a HTTP/1.1\r\n"))
    }

    @Test(arguments: [
        "169.254.169.254", "2852039166", "0xa9.254.43518", "[::ffff:169.254.169.254]", "169.254.169.254.",
    ])
    func `an address in the URL is judged before the proxy is asked`(host: String) {
        let proxy = receiver()
        let questions = Questions()
        var limits = CourierLimits()
        limits.proxy = proxy.base
        let harness = CourierHarness(
            limits,
            judge: { host, address in
                questions.note("", address)
                return "link-local"
            })
        let result = harness.exchange(["http://\(host)/latest"])[0]
        proxy.stop()
        #expect(result.failure == .refused && result.error == "refused: link-local")
        #expect(questions.asked.count == 1 && questions.asked[0].hasSuffix("169.254.169.254 80"))
        #expect(proxy.connections == 0)
    }

    @Test func `a proxy of the environment is not used`() async {
        // The test runs in a process of its own, as the environment belongs to all tests.
        await #expect(processExitsWith: .success) {
            let receiver = Receiver { visit in
                visit.answer(200)
                return .keep
            }
            _ = unsafe setenv("http_proxy", "http://127.0.0.1:\(Receiver.deadPort())", 1)
            let status = CourierHarness().exchange([receiver.base])[0].status
            receiver.stop()
            exit(status == 200 ? 0 : 1)
        }
    }
}
