import HTTPServer
import TimerLog
import TimerService

/// Requests with an idempotency key, and the stored answers that repeated ones get.
extension TimerHandler {
    /// Reads the key of a POST that has one.
    func readIdempotencyKey(_ ticket: Ticket) {
        guard ticket.exchange.method == .post, let value = ticket.exchange.header("idempotency-key") else { return }
        guard (1...APILimits.keyBytes).contains(value.bytes.count), value.bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            return ticket.fail(Problem(.invalidRequest, "`Idempotency-Key` is 1 to 128 visible ASCII characters"))
        }
        // The key alone names the request; method, target and body make its fingerprint.
        let siphash = reader.siphash
        let request = Array("POST ".utf8) + ticket.exchange.target + [0] + ticket.exchange.body
        ticket.idempotency = (
            Hash128(Array(value.bytes).span, siphash: siphash, tweak: 2),
            Hash128(request.span, siphash: siphash, tweak: 3)
        )
    }

    /// The row with the answer that a repeated request gets has been read.
    func replay(_ result: Result<LogRow?, StoreError>, _ ticket: Ticket) {
        guard case .replay(let position) = ticket.outcome else { return }
        var stored: StoredResponse?
        if case .success(let row?) = result {
            _ = try? BatchRows.read(row) { record in
                if record.position == position, case .answer(let answer) = record.content {
                    stored = StoredResponse(answer.answer)
                }
                return record.position < position
            }
        }
        if let stored {
            Renderer.fill(stored, ticket)
        } else {
            ticket.outcome = .problem(Problem(.storageUnavailable, "the stored answer can't be read now"))
            Renderer.render(ticket)
        }
        send(ticket)
    }
}
