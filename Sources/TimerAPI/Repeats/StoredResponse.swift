import HTTPServer
import TimerCore
import TimerService
import WireJSON

/// An answer as it is kept for requests that repeat its idempotency key, unless it shows a timer or is one of a run:
/// status, then entity tag, location and media type, each with its length before it, then the body.
struct StoredResponse {
    var status: Int
    var tag: [UInt8] = []
    var location: [UInt8] = []
    var type: [UInt8] = []
    var body: [UInt8]

    /// Renders the answer of a ticket that succeeded.
    init(_ ticket: Ticket) {
        Renderer.render(ticket)
        status = ticket.exchange.response.status
        body = ticket.exchange.response.body
        type = Array("application/json".utf8)
    }

    /// Encodes the answer.
    func encode() -> [UInt8] {
        var bytes: [UInt8] = []
        ByteCoding.append(UInt64(status), to: &bytes)
        for text in [tag, location, type] { ByteCoding.append(run: text, to: &bytes) }
        return bytes + body
    }

    /// Decodes an answer; nil if `bytes` are not one.
    init?(_ bytes: [UInt8]) {
        var offset = 0
        guard let status = ByteCoding.read(bytes.span, &offset) else { return nil }
        var texts: [[UInt8]] = []
        for _ in 0..<3 {
            guard let text = ByteCoding.readRun(bytes.span, &offset) else { return nil }
            texts.append(text)
        }
        self.status = Int(status)
        (tag, location, type) = (texts[0], texts[1], texts[2])
        body = Array(bytes[offset...])
    }
}
