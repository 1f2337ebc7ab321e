import Foundation
import Testing
import TimerCore

@testable import Webhooks

private let event = WebhookEvent(
    id: "dlv_01", type: "fired", json: Array(#"{"type":"fired","data":{"n":1}}"#.utf8),
    payload: Array(#"{"a":[1]}"#.utf8),
    data: [("scheduledAt", "2026-01-01T00:00:00.000Z"), ("timerId", "grüße 100%"), ("x_y", "")], source: "/timerd",
    subject: "a\"b", timeMs: 1_767_225_600_000)

private let secret = WebhookSecret(key: Array(0..<32))!
private let other = WebhookSecret(key: Array(1...32))!

private func request(_ change: (inout WebhookConfiguration) -> Void = { _ in }) -> WebhookRequest {
    var webhook = WebhookConfiguration(url: "https://example.com/hook", timeoutMs: 7000)
    change(&webhook)
    return WebhookRequestBuilder(version: "1.2.3").request(event, by: webhook, timestamp: 1_767_225_601)
}

extension WebhookRequest {
    fileprivate func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
    fileprivate var names: [String] { headers.map(\.name) }
}

struct WebhookRequestBuilderTests {
    private let builder = WebhookRequestBuilder(version: "1.2.3")

    @Test func `the standard format sends the event`() {
        let sent = request()
        #expect(sent.method == .post && sent.url == "https://example.com/hook" && sent.timeoutMs == 7000)
        #expect(sent.body == event.json)
        #expect(
            sent.headers == [
                WebhookHeader("User-Agent", "timerd/1.2.3"), WebhookHeader("Content-Type", "application/json"),
                WebhookHeader("webhook-id", "dlv_01"), WebhookHeader("webhook-timestamp", "1767225601"),
            ])
    }

    @Test func `cloudevents wraps the event as the specification wants it`() throws {
        let sent = request { $0.format = .cloudevents }
        #expect(sent.values("Content-Type") == ["application/cloudevents+json"])
        let body = try JSONSerialization.jsonObject(with: Data(#require(sent.body))) as? [String: Any]
        let envelope = try #require(body)
        let texts = envelope.compactMapValues { $0 as? String }
        #expect(
            texts == [
                "specversion": "1.0", "id": "dlv_01", "source": "/timerd", "type": "timerd.timer.fired",
                "subject": "a\"b", "time": "2026-01-01T00:00:00.000Z", "datacontenttype": "application/json",
            ])
        #expect(envelope.count == texts.count + 1)
        #expect(((envelope["data"] as? [String: Any])?["data"] as? [String: Int]) == ["n": 1])
        #expect(!sent.names.contains { $0.hasPrefix("timerd-") })
    }

    @Test func `payload sends the payload, the event's data in headers`() {
        let sent = request { $0.format = .payload }
        #expect(sent.body == event.payload)
        #expect(sent.values("Content-Type") == ["application/json"])
        #expect(sent.names.suffix(4) == ["timerd-event", "timerd-scheduled-at", "timerd-timer-id", "timerd-x-y"])
        #expect(
            sent.headers.suffix(4).map(\.value) == ["fired", "2026-01-01T00:00:00.000Z", "gr%C3%BC%C3%9Fe 100%25", ""])
        var empty = event
        empty.payload = nil
        let webhook = WebhookConfiguration(url: "https://example.com", format: .payload)
        #expect(builder.request(empty, by: webhook, timestamp: 0).body == Array("null".utf8))
    }

    @Test(arguments: ["", "a=1,b=2"])
    func `a trace goes along, in place of what the webhook says of one`(state: String) throws {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        var traced = event
        traced.trace = TraceContext(parent: Array(parent.utf8)[...], state: Array(state.utf8))
        let own = [
            WebhookHeader("TraceParent", "x"), WebhookHeader("X-A", "b"), WebhookHeader("tracestate", "y"),
        ]
        let webhook = WebhookConfiguration(url: "https://example.com", headers: own)
        let sent = builder.request(traced, by: webhook, timestamp: 0)
        #expect(sent.values("traceparent") == [parent] && sent.values("TraceParent") == [])
        #expect(sent.values("tracestate") == (state.isEmpty ? [] : [state]))
        #expect(sent.values("X-A") == ["b"])
        #expect(Array(builder.request(event, by: webhook, timestamp: 0).headers.suffix(3)) == own)
    }

    @Test(arguments: WebhookFormat.allCases)
    func `GET sends no body and says the event in headers`(format: WebhookFormat) {
        let sent = request {
            $0.method = .get
            $0.format = format
            $0.secrets = [secret]
        }
        #expect(sent.body == nil)
        #expect(sent.values("Content-Type") == [])
        #expect(sent.values("timerd-event") == ["fired"])
        #expect(
            sent.values("webhook-signature") == [
                WebhookSignature.header(id: "dlv_01", timestamp: 1_767_225_601, body: [], secrets: [secret])
            ])
    }

    @Test(arguments: WebhookMethod.allCases, WebhookFormat.allCases)
    func `a request needs no part of the event that its webhook does not show`(
        method: WebhookMethod, format: WebhookFormat
    ) {
        let webhook = WebhookConfiguration(url: "https://example.com", method: method, format: format)
        var shown = event
        if !webhook.showsEvent { shown.json = [] }
        if !webhook.showsPayload { shown.payload = nil }
        if !webhook.showsData { shown.data = [] }
        let whole = builder.request(event, by: webhook, timestamp: 0)
        #expect(builder.request(shown, by: webhook, timestamp: 0) == whole)
    }

    @Test(arguments: [WebhookMethod.post, .put, .patch, .delete], WebhookFormat.allCases)
    func `every body is signed as it is sent`(method: WebhookMethod, format: WebhookFormat) throws {
        let sent = request {
            $0.method = method
            $0.format = format
            $0.secrets = [secret, other]
        }
        let body = try #require(sent.body)
        for key in [secret, other] {
            let verdict = WebhookSignature.verify(
                signature: sent.values("webhook-signature").joined(), id: sent.values("webhook-id").joined(),
                timestamp: sent.values("webhook-timestamp").joined(), body: body, secrets: [key],
                nowSeconds: 1_767_225_601)
            #expect(verdict == .valid)
        }
    }

    @Test func `a webhook's own secrets take the place of the server's`() {
        let builder = WebhookRequestBuilder(version: "1", defaultSecrets: [secret])
        func signature(_ secrets: [WebhookSecret]) -> [String] {
            let webhook = WebhookConfiguration(url: "https://example.com", secrets: secrets)
            return builder.request(event, by: webhook, timestamp: 5).values("webhook-signature")
        }
        func expected(_ secret: WebhookSecret) -> [String] {
            [WebhookSignature.header(id: "dlv_01", timestamp: 5, body: event.json, secrets: [secret])]
        }
        #expect(signature([]) == expected(secret))
        #expect(signature([other]) == expected(other))
        #expect(request().values("webhook-signature") == [])
    }

    @Test func `a webhook's own headers come last and may name another agent`() {
        let own = [WebhookHeader("X-B", "1"), WebhookHeader("user-agent", "me"), WebhookHeader("X-A", "2")]
        let sent = request { $0.headers = own }
        #expect(sent.headers.suffix(3) == own)
        #expect(sent.values("User-Agent") == [])
    }

    @Test(arguments: [
        ("", ""), ("plain text", "plain text"), (" a ", "%20a%20"), ("a\r\nb: c", "a%0D%0Ab: c"), ("\u{0}", "%00"),
        ("%", "%25"), ("é", "%C3%A9"), ("\t", "%09"), ("\u{7F}", "%7F"),
    ])
    func `any text can stand in a header and be had back`(text: String, expected: String) {
        #expect(WebhookRequestBuilder.headerValue(text) == expected)
        #expect(expected.removingPercentEncoding == text)
    }

    @Test(arguments: [
        ("count", "count"), ("scheduledAt", "scheduled-at"), ("missedFires2", "missed-fires2"), ("ID", "i-d"),
        ("a b:ü", "a-b---"),
    ])
    func `a member's name becomes a header's`(member: String, expected: String) {
        #expect(WebhookRequestBuilder.headerName(member) == expected)
    }
}
