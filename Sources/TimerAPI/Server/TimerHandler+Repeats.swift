import HTTPServer
import Platform
import TimerLog
import TimerService

/// Requests with an idempotency key, and the stored answers that repeated requests get.
extension TimerHandler {
    /// Reads the key of a POST that has one.
    func readIdempotencyKey(_ ticket: Ticket) {
        guard ticket.exchange.method == .post, ticket.route.takesKeys,
            let value = ticket.exchange.header("idempotency-key")
        else { return }
        guard ticket.exchange.headers.count(of: "idempotency-key") == 1 else {
            return ticket.fail(Problem(.invalidRequest, "`Idempotency-Key` stands there more than once"))
        }
        guard (1...APILimits.keyBytes).contains(value.bytes.count), value.bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            return ticket.fail(Problem(.invalidRequest, "`Idempotency-Key` is 1 to 128 visible ASCII characters"))
        }
        // The key alone names the request; method, target and body make its fingerprint.
        let siphash = reader.siphash
        ticket.idempotency = (Hash128(Array(value.bytes).span, siphash: siphash, tweak: 2), fingerprint(of: ticket))
    }

    private func fingerprint(of ticket: Ticket) -> Hash128 {
        let request = Array("POST ".utf8) + ticket.exchange.target + [0] + ticket.exchange.body
        return Hash128(request.span, siphash: reader.siphash, tweak: 3)
    }

    /// Reads the stored answer that a repeated request gets, or continues from: from memory, or by
    /// the replay threads.
    func readStoredAnswer(at positions: [Int64], _ ticket: Ticket) {
        if positions.count == 1, let row = context.service.feed.row(holding: positions[0]) {
            return receivedStoredAnswer(.success([RowRecords(row).answer(at: positions[0])]), ticket)
        }
        reading[ticket.serial] = ticket
        let serial = ticket.serial
        let inbox = inbox
        context.service.replayer.answers(at: positions) { inbox.post(.storedAnswer(ticket: serial, $0)) }
    }

    /// Continues a request with the stored answer that was read.
    func receivedStoredAnswer(_ result: Result<[StoredAnswer?], StoreError>, _ ticket: Ticket) {
        guard case .replay(let positions) = ticket.outcome else { return }
        let unreadable = Problem(.storageUnavailable, "the stored answer can't be read now")
        guard case .success(let found) = result else { return refuseStopped(ticket, unreadable) }
        let answers = found.compactMap { $0 }
        guard answers.count == found.count else {
            return lookUpAgain(ticket) ? decided(ticket) : refuseStopped(ticket, unreadable)
        }
        guard ticket.isUnderWay, let run = ticket.operation.partedRun else {
            guard Replay.fill(answers, ticket) else { return refuseStopped(ticket, unreadable) }
            return respond(ticket)
        }
        guard run.resume(behind: answers.map(\.answer)) else { return refuseStopped(ticket, unreadable) }
        ticket.newestPart = positions.last ?? 0
        ticket.outcome = .none
        ticket.attempts = 0
        // The parts are durable, since they were read from rows that were committed.
        ticket.restOnNothing()
        executor.prepare(ticket, makeID: ids.next)
        takeAgain(ticket)
    }

    /// Looks up the positions of the stored answer again: compaction may have moved it before it was read. Returns
    /// whether there is one to be read.
    private func lookUpAgain(_ ticket: Ticket) -> Bool {
        guard let key = ticket.idempotency?.key, ticket.attempts < Self.mostLooks, let engine = log.value?.engine else {
            return false
        }
        ticket.attempts += 1
        let positions = engine.turn { turn in turn.positions(of: key) }
        ticket.outcome = .replay(positions)
        return !positions.isEmpty
    }

    /// The most times that an answer is looked up again because it was moved between the look-up and the read.
    private static let mostLooks = 4
}
