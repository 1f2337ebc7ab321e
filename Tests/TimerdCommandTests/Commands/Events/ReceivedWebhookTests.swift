import Testing
import Webhooks

@testable import TimerdCommand

struct ReceivedWebhookTests {
    /// 2026-11-21T09:00:00Z.
    private static let now: Int64 = 1_795_251_600
    private static let event = #"{"id":"7","type":"fired","timer":"tea"}"#

    private func received(_ body: String, _ headers: [String: String] = [:]) -> ReceivedWebhook {
        ReceivedWebhook("POST", "/hook", body: Array(body.utf8)) { headers["\($0)"] }
    }

    /// A secret of 32 equal bytes.
    private func secret(_ letter: Character) throws -> WebhookSecret {
        try WebhookSecret("whsec_" + String(repeating: letter, count: 42) + "E=")
    }

    @Test(
        arguments: [
            (event, [:]), (#"{"specversion":"1.0","type":"timerd.timer.fired","data":\#(event)}"#, [:]),
            ("null", ["timerd-event": "fired", "timerd-timer": "tea"]),
        ] as [(String, [String: String])])
    func `an event is a line in every format`(body: String, headers: [String: String]) {
        let webhook = received(body, headers.merging(["webhook-id": "7_x"]) { $1 })
        #expect(
            webhook.line(nowMs: Self.now * 1000, attempt: 2, mark: "✓ verified", status: 500)
                == "2026-11-21T09:00:00.000Z  POST /hook  fired  tea  id=7_x attempt=2  ✓ verified  500")
    }

    @Test func `what is no event is a line as far as it goes`() {
        let line = received("a\u{1b}[31m").line(nowMs: Self.now * 1000, attempt: nil, mark: "unsigned", status: 200)
        #expect(line == "2026-11-21T09:00:00.000Z  POST /hook  ?  ?  unsigned  200")
        let odd = received(#"{"type":"a\u202eb"}"#).line(nowMs: 0, attempt: nil, mark: "unsigned", status: 200)
        #expect(odd == "1970-01-01T00:00:00.000Z  POST /hook  a b  ?  unsigned  200")
    }

    @Test(
        arguments: [
            (0, "A", "✓ verified"), (-301, "A", "✗ signed over 5 minutes ago"),
            (301, "A", "✗ signed over 5 minutes ahead"),
            (300, "A", "✓ verified"), (0, "B", "✗ another secret or another body"),
        ] as [(Int64, Character, String)])
    func `whoever did not sign is told apart`(seconds: Int64, signer: Character, mark: String) throws {
        let stamp = Self.now + seconds
        let signature = WebhookSignature.header(
            id: "7_x", timestamp: stamp, body: Array(Self.event.utf8), secrets: [try secret(signer)])
        let headers = ["webhook-id": "7_x", "webhook-timestamp": "\(stamp)", "webhook-signature": signature]
        let webhook = received(Self.event, headers)
        #expect(webhook.mark([try secret("A")], nowSeconds: Self.now) == mark)
        #expect(webhook.mark([], nowSeconds: Self.now) == "unchecked")
    }

    @Test func `a delivery without a signature is unsigned, and a timestamp must be a number`() throws {
        let secrets = [try secret("A")]
        #expect(received(Self.event, ["webhook-id": "7_x"]).mark(secrets, nowSeconds: Self.now) == "unsigned")
        let headers = ["webhook-id": "7_x", "webhook-timestamp": "soon", "webhook-signature": "v1,x"]
        let mark = received(Self.event, headers).mark(secrets, nowSeconds: Self.now)
        #expect(mark == "✗ the timestamp is no number of seconds")
    }
}
