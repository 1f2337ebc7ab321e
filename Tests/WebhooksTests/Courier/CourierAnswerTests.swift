import TestSupport
import Testing
import TimerCore
import Webhooks

/// The results that receivers' behaviours lead to.
struct CourierAnswerTests {
    /// The result of one POST to a receiver that answers with `handle`.
    private func post(
        timeoutMs: Int = Patience.milliseconds, _ handle: @escaping @Sendable (Receiver.Visit) -> Receiver.After
    ) -> CourierResult {
        let receiver = Receiver(handle)
        let result = CourierHarness().exchange(["\(receiver.base)/hook"], timeoutMs: timeoutMs)[0]
        receiver.stop()
        return result
    }

    @Test(arguments: [200, 202, 204, 301, 307, 400, 404, 410, 500, 503])
    func `a status is an answer, whatever it says`(status: Int) {
        let result = post { visit in
            visit.answer(status, ["Location: /elsewhere"], body: status == 204 ? "" : "word")
            return .keep
        }
        #expect(result.status == status)
        #expect(result.failure == nil && result.error == nil)
        #expect(result.serial == 1)
        #expect(result.endedAt >= result.startedAt && result.startedAt > 0)
    }

    @Test func `a redirect is not followed`() {
        let receiver = Receiver { visit in
            visit.answer(302, ["Location: /elsewhere"])
            return .keep
        }
        let harness = CourierHarness()
        #expect(harness.exchange(["\(receiver.base)/a", "\(receiver.base)/b"]).map(\.status) == [302, 302])
        receiver.stop()
        #expect(receiver.requests.count == 2)
        #expect(!receiver.requests.contains { $0.contains("/elsewhere") })
    }

    @Test func `what steers and what slows down come back`() {
        let result = post { visit in
            visit.answer(429, ["retry-after:  120 ", "Timer-Command: reschedule=5m", "Retry-After: 7"])
            return .keep
        }
        #expect(result.status == 429)
        #expect(result.retryAfter == Array("120".utf8))
        #expect(result.timerCommand == Array("reschedule=5m".utf8))
    }

    @Test func `an interim answer is passed over`() {
        let result = post { visit in
            visit.send("HTTP/1.1 103 Early Hints\r\nRetry-After: 1\r\n\r\n")
            visit.answer(200)
            return .keep
        }
        #expect(result.status == 200)
        #expect(result.retryAfter == nil)
    }

    @Test func `a value longer than is needed is cut`() {
        let result = post { visit in
            visit.answer(200, ["Timer-Command: " + String(repeating: "x", count: 300)])
            return .keep
        }
        #expect(result.status == 200)
        #expect(result.timerCommand?.count == 256)
    }

    @Test func `an answer that does not come is given up`() {
        let result = post(timeoutMs: 50) { visit in
            visit.waitForEnd()
            return .close
        }
        #expect(result.status == 0)
        #expect(result.failure == .timedOut)
        #expect(result.error?.contains("timed out") == true)
    }

    @Test func `a head that drips is given up`() {
        let result = post(timeoutMs: 200) { visit in
            visit.send("HTTP/1.1 200 OK\r\n")
            while !visit.hasEnded(withinMs: 5) { visit.send("X: y\r\n") }
            return .close
        }
        #expect(result.status == 0)
        #expect(result.failure == .timedOut)
        #expect(result.error?.contains("timed out") == true)
    }

    @Test func `a head that never ends is refused`() {
        let result = post { visit in
            visit.send("HTTP/1.1 200 OK\r\n")
            while visit.send("X-Fill: " + String(repeating: "x", count: 1000) + "\r\n") {}
            return .close
        }
        #expect(result.status == 0)
        #expect(result.failure == .malformed)
        #expect(result.error == "the answer's head is over 65536 bytes")
    }

    @Test(arguments: ["slow", ""])
    func `a 2xx whose body hangs is none`(start: String) {
        let result = post(timeoutMs: 100) { visit in
            visit.send("HTTP/1.1 200 OK\r\nTimer-Command: cancel\r\nContent-Length: 10\r\n\r\n\(start)")
            visit.waitForEnd()
            return .close
        }
        #expect(result.status == 0)
        #expect(result.timerCommand == nil)
        #expect(result.failure == .timedOut)
    }

    @Test(arguments: [410, 500])
    func `of another answer the head is enough`(status: Int) {
        let result = post { visit in
            visit.send("HTTP/1.1 \(status) Word\r\nContent-Length: 10\r\n\r\nhalf")
            return .close
        }
        #expect(result.status == status)
        #expect(result.error == nil)
    }

    @Test func `an answer that breaks off anywhere is none, and a whole one is one`() {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        for count in 0...whole.utf8.count {
            let result = post { visit in
                visit.send(String(decoding: Array(whole.utf8).prefix(count), as: UTF8.self))
                return .close
            }
            #expect((result.status == 200) == (count == whole.utf8.count), "\(count)")
            #expect((result.failure == nil) == (count == whole.utf8.count), "\(count)")
        }
    }

    @Test func `a body without an end is cut off and takes nothing from the status`() {
        let result = post { visit in
            visit.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while visit.send("3e8\r\n" + String(repeating: "x", count: 1000) + "\r\n") {}
            return .close
        }
        #expect(result.status == 200)
        #expect(result.error == nil)
    }

    @Test func `a reset before the answer is an error`() {
        let result = post { visit in
            visit.reset()
            return .close
        }
        #expect(result.status == 0)
        #expect(result.failure == .interrupted && result.error != nil)
    }

    @Test func `a reset in the middle of the head is an error`() {
        let result = post { visit in
            visit.send("HTTP/1.1 200 OK\r\nX-A: ")
            visit.reset()
            return .close
        }
        #expect(result.status == 0)
        #expect(result.failure == .interrupted && result.error != nil)
    }

    @Test func `a 2xx whose body breaks off is none`() {
        let receiver = Receiver { visit in
            visit.send("HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\nhalf")
            return .close
        }
        let result = CourierHarness().exchange([receiver.base + "/"])[0]
        receiver.stop()
        #expect(result.status == 0)
        #expect(result.failure == .interrupted && result.error != nil)
    }

    @Test func `an end without an answer is an error`() {
        let result = post { _ in .close }
        #expect(result.status == 0)
        #expect(result.failure == .interrupted && result.error != nil)
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
    ])
    func `what is no HTTP is an error`(text: String) {
        let result = post { visit in
            visit.send(text)
            return .close
        }
        #expect(result.status == 0)
        #expect(result.failure == .malformed && result.error != nil)
    }
}
