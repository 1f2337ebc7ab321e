import HTTPServer
import Webhooks
import WireJSON

/// A webhook as it was received, in any of the three formats.
struct ReceivedWebhook {
    /// The `webhook-id`.
    let id: String?
    private let method: String
    private let target: String
    private let timestamp: String?
    private let signature: String?
    private let type: String?
    private let timer: String?
    private let body: [UInt8]

    init(_ exchange: Exchange) {
        let method =
            exchange.method == .other
            ? String(decoding: exchange.methodText, as: UTF8.self)
            : "\(exchange.method)".uppercased()
        let target = String(decoding: exchange.target, as: UTF8.self)
        self.init(method, target, body: exchange.body) { exchange.header($0)?.text }
    }

    /// Reads a request; `header` returns the value of a header by its name.
    init(_ method: String, _ target: String, body: [UInt8], header: (StaticString) -> String?) {
        id = header("webhook-id")
        self.method = method
        self.target = target
        timestamp = header("webhook-timestamp")
        signature = header("webhook-signature")
        self.body = body
        // The event is the body, is in an envelope, or is described by headers.
        let json = JSONObject(body)
        let isEnvelope = json?["specversion"] != nil
        let event = isEnvelope ? json?["data"].flatMap { JSONObject(Array($0.utf8)) } : json
        type = header("timerd-event") ?? event?["type"]
        timer = header("timerd-timer") ?? event?["timer"]
    }

    /// Returns what the line says of the signature: whether one of `secrets` made it.
    func mark(_ secrets: [WebhookSecret], nowSeconds: Int64) -> String {
        guard let id, let timestamp, let signature else { return "unsigned" }
        guard !secrets.isEmpty else { return "unchecked" }
        let verdict = WebhookSignature.verify(
            signature: signature, id: id, timestamp: timestamp, body: body, secrets: secrets, nowSeconds: nowSeconds)
        switch verdict {
        case .valid: return "✓ verified"
        case .malformedTimestamp: return "✗ the timestamp is no number of seconds"
        case .tooOld: return "✗ signed over \(WebhookSignature.toleranceSeconds / 60) minutes ago"
        case .tooNew: return "✗ signed over \(WebhookSignature.toleranceSeconds / 60) minutes ahead"
        case .noMatch: return "✗ another secret or another body"
        }
    }

    /// Returns the line that is printed:
    /// `2026-11-21T09:04:00.000Z  POST /hook  fired  tea  id=1_fired attempt=2  ✓ verified  500`.
    func line(nowMs: Int64, attempt: Int?, mark: String, status: Int) -> String {
        var time: [UInt8] = []
        RFC3339.append(nowMs, to: &time)
        var parts = [String(decoding: time, as: UTF8.self), "\(method) \(target)", type ?? "?", timer ?? "?"]
        if let id { parts.append("id=\(id) attempt=\(attempt ?? 1)") }
        parts += [mark, "\(status)"]
        return Printable.text(parts.joined(separator: "  "))
    }
}
