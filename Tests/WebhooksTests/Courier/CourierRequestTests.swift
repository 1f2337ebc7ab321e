import TestSupport
import Testing
import TimerCore
import Webhooks

/// The bytes that are sent, and those that are not.
struct CourierRequestTests {
    /// Sends a request. Returns the text that the receiver got.
    private func sent(_ request: CourierRequest, path: String = "/") throws -> String {
        let receiver = Receiver { visit in
            visit.answer(200)
            return .keep
        }
        var request = request
        request.url = receiver.base + path
        let result = CourierHarness().exchange(request)
        receiver.stop()
        #expect(result.status == 200)
        return try #require(receiver.requests.first)
    }

    @Test func `a body goes out whole, with the headers as they are`() throws {
        let body: [UInt8] = Array("{\"a\":\0}".utf8)
        let text = try sent(
            CourierRequest(
                serial: 1, method: "POST", url: "",
                headers: [("Content-Type", "application/json"), ("webhook-id", "1"), ("X-Empty", ""), ("X-A", "ä;:")],
                body: body, timeoutMs: Patience.milliseconds), path: "/a%20b/../c?d=e")
        #expect(text.hasPrefix("POST /a%20b/../c?d=e HTTP/1.1\r\n"))
        for line in ["Content-Type: application/json", "webhook-id: 1", "X-Empty:", "X-A: ä;:", "Content-Length: 7"] {
            #expect(text.contains("\r\n\(line)\r\n"))
        }
        #expect(text.hasSuffix("\r\n\r\n{\"a\":\0}"))
    }

    @Test func `nothing is added but what HTTP asks for`() throws {
        let text = try sent(
            CourierRequest(serial: 1, method: "POST", url: "", body: [0x31], timeoutMs: Patience.milliseconds))
        let names = text.split(separator: "\r\n").dropFirst().compactMap { $0.split(separator: ":").first }
        #expect(names.prefix(3) == ["Host", "Accept", "Content-Length"])
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func `without a body the length is zero`(method: String) throws {
        let text = try sent(CourierRequest(serial: 1, method: method, url: "", timeoutMs: Patience.milliseconds))
        #expect(text.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(text.contains("\r\nContent-Length: 0\r\n"))
    }

    @Test func `a large body does not wait to be asked for`() throws {
        let body = [UInt8](repeating: 0x78, count: 2_000_000)
        let text = try sent(
            CourierRequest(serial: 1, method: "POST", url: "", body: body, timeoutMs: Patience.milliseconds))
        #expect(!text.lowercased().contains("expect:"))
        #expect(text.hasSuffix(String(repeating: "x", count: 100)))
    }

    @Test func `a handle is set up anew for each request`() {
        let receiver = Receiver { visit in
            visit.answer(200)
            return .keep
        }
        let harness = CourierHarness()
        var second = CourierRequest(
            serial: 2, method: "GET", url: receiver.base + "/2", timeoutMs: Patience.milliseconds)
        let first = CourierRequest(
            serial: 1, method: "PUT", url: receiver.base + "/1", headers: [("X-One", "1")], body: [0x31],
            timeoutMs: Patience.milliseconds)
        harness.courier.submit([first])
        _ = harness.results.wait(1)
        harness.courier.submit([second])
        _ = harness.results.wait(2)
        second.serial = 3
        second.headers = [("X-Long", String(repeating: "y", count: 6000))]
        harness.courier.submit([second])
        #expect(harness.results.wait(3).map(\.status) == [200, 200, 200])
        receiver.stop()
        #expect(receiver.connections == 1)
        #expect(receiver.requests[1].hasPrefix("GET /2 HTTP/1.1\r\n"))
        #expect(!receiver.requests[1].contains("X-One"))
        #expect(!receiver.requests[1].lowercased().contains("content-"))
        #expect(receiver.requests[1].hasSuffix("\r\n\r\n"))
        #expect(receiver.requests[2].contains("\r\nX-Long: yyy"))
    }

    @Test func `a cookie is not kept`() {
        let receiver = Receiver { visit in
            visit.answer(200, ["Set-Cookie: a=b"])
            return .keep
        }
        let harness = CourierHarness()
        _ = harness.exchange([receiver.base + "/1"])
        harness.courier.submit(CourierHarness.posts([receiver.base + "/2"], from: 2))
        _ = harness.results.wait(2)
        receiver.stop()
        #expect(!receiver.requests[1].contains("Cookie"))
    }

    @Test(arguments: [
        CourierRequest(serial: 1, method: "", url: "http://127.0.0.1:1/", timeoutMs: 1),
        CourierRequest(serial: 1, method: "HEAD", url: "http://127.0.0.1:1/", timeoutMs: 1),
        CourierRequest(serial: 1, method: "GET / HTTP/1.1\r\nX:", url: "http://127.0.0.1:1/", timeoutMs: 1),
        CourierRequest(serial: 1, method: "GET", url: "http://127.0.0.1:1/\r\nX: y", timeoutMs: 1),
        CourierRequest(serial: 1, method: "GET", url: "http://127.0.0.1:1/a b", timeoutMs: 1),
        CourierRequest(
            serial: 1, method: "GET", url: "http://127.0.0.1:1/", headers: [("X", "a\r\nY: b")], timeoutMs: 1),
        CourierRequest(serial: 1, method: "GET", url: "http://127.0.0.1:1/", headers: [("X:", "a")], timeoutMs: 1),
        CourierRequest(serial: 1, method: "GET", url: "http://127.0.0.1:1/", headers: [("", "a")], timeoutMs: 1),
        CourierRequest(serial: 1, method: "GET", url: "http://127.0.0.1:1/", headers: [("X", "a\0b")], timeoutMs: 1),
    ])
    func `what would write lines of its own is not sent`(request: CourierRequest) {
        let result = CourierHarness(judge: { _, _ in "asked" }).exchange(request)
        #expect(result.status == 0)
        #expect(result.failure == .malformed)
        #expect(result.error?.hasPrefix("not sent: ") == true)
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/passwd", "no url", "http://", "http://u:p@127.0.0.1:1/", "http:",
    ])
    func `what is no address of HTTP is not connected to`(url: String) {
        let result = CourierHarness(judge: { _, _ in "asked" }).exchange([url])[0]
        #expect(result.status == 0)
        #expect(result.failure == .malformed)
        #expect(result.error != nil && result.error?.contains("asked") == false)
    }

    @Test func `a name without addresses is an error`() {
        let result = CourierHarness().exchange(["http://no-such-host.invalid/"])[0]
        #expect(result.status == 0)
        #expect(result.failure == .unresolved)
        #expect(result.error?.contains("no-such-host.invalid") == true)
    }

    @Test func `an address without a listener is an error`() {
        let result = CourierHarness().exchange(["http://127.0.0.1:\(Receiver.deadPort())/"])[0]
        #expect(result.status == 0)
        #expect(result.failure == .unreachable)
        #expect(result.error?.contains("connect") == true)
    }
}
