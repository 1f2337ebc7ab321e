import HTTPServer
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// Makes stored answers the outcomes of requests that repeat an idempotency key.
enum Replay {
    /// Makes `answers`, the parts of one answer, the outcome of `ticket`. Returns false if they can't be decoded.
    static func fill(_ answers: [StoredAnswer], _ ticket: Ticket) -> Bool {
        guard let first = answers.first else { return false }
        ticket.isReplay = true
        switch first.form {
        case .response: return fill(StoredResponse(first.answer), ticket)
        case .timer: return fill(ShownTimer(first.answer), ticket)
        case .part:
            guard PartShape(of: first.answer) == .lines else { return fill(BulkProgress(first.answer), ticket) }
            return fillLines(answers, ticket)
        }
    }

    private static func fill(_ stored: StoredResponse?, _ ticket: Ticket) -> Bool {
        guard let stored else { return false }
        ticket.outcome = .stored(stored)
        return true
    }

    private static func fill(_ shown: ShownTimer?, _ ticket: Ticket) -> Bool {
        guard let shown else { return false }
        ticket.view.progress = shown.progress
        ticket.view.kicks = shown.kicks
        ticket.view.definition = shown.definition
        ticket.view.now = shown.now
        ticket.view.eventID = shown.eventID
        ticket.parameter.removeAll()
        Definition.appendID(shown.definition.span, to: &ticket.parameter)
        ticket.outcome = .timer(status: shown.status)
        return true
    }

    private static func fill(_ progress: BulkProgress?, _ ticket: Ticket) -> Bool {
        guard let progress else { return false }
        ticket.outcome = .bulk(progress.counts)
        return true
    }

    private static func fillLines(_ parts: [StoredAnswer], _ ticket: Ticket) -> Bool {
        let form = BatchForm(of: ticket.exchange.body, isJSON: true)
        var json = JSONWriter()
        for part in parts {
            guard let results = BatchResult.read(part.answer) else { return false }
            for result in results { form.write(result, &json, requestID: ticket.requestID, to: ticket.principal) }
        }
        let ending = form.ending(isEmpty: json.count == 0)
        ticket.outcome = .page(status: 200, type: form.mediaType, json.bytes + ending)
        return true
    }
}

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
