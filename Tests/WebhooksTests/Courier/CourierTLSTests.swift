import TestSupport
import Testing
import TimerCore
import Webhooks

/// The proof of a receiver's identity. The black-box tests show that an untrusted certificate is refused.
struct CourierTLSTests {
    @Test func `plain HTTP behind https is an error`() {
        let receiver = Receiver { visit in
            visit.answer(200)
            return .close
        }
        let result = CourierHarness().exchange(["https://127.0.0.1:\(receiver.port)/"], timeoutMs: 200)[0]
        receiver.stop()
        #expect(result.status == 0)
        #expect(result.error != nil)
    }
}
