import HTTPServer
import Platform
import TimerService

/// The beginning and the steps of exports.
extension TimerHandler {
    /// Begins an export, which takes the connection over. Only the server that owns the log answers it.
    func beginExport(_ ticket: Ticket) {
        var showsSecrets = false
        let log: ActiveLog
        do throws(Problem) {
            var query = QueryReader(ticket.target)
            showsSecrets = try query.flag("secrets", default: false)
            try query.finish()
            if isDraining { throw Problem(ServiceError.shuttingDown, timer: []) }
            guard let owned = context.service.log.value else { throw context.elsewhere(ticket) }
            log = owned
        } catch {
            ticket.outcome = .problem(error)
            return respond(ticket)
        }
        guard let answer = ticket.answer.take() else { return }
        ticket.exchange.response.reset()
        ticket.exchange.response.add("Request-Id", ticket.requestID)
        ticket.exchange.response.add("Content-Type", "application/x-ndjson")
        ticket.exchange.response.add("Cache-Control", "no-store")
        ticket.exchange.response.add("X-Accel-Buffering", "no")
        if ticket.exchange.method == .head {
            note(ticket)
            ticket.releaseMemory()
            return answer.sendHead(isStream: true)
        }
        switch answer.detach() {
        case .stream(let stream):
            note(ticket)
            ticket.outcome = .gone
            let export = ExportStream(
                id: ticket.serial, stream, log, context.service, inbox, showsSecrets: showsSecrets,
                version: context.configuration.version)
            stream.producer = export
            exports[ticket.serial] = export
            inbox.wake()
        case .refused(let answer, let reason):
            refuseStream(consume answer, reason, ticket)
        }
    }

    /// Takes a few steps of each export.
    func stepExports() {
        guard !exports.isEmpty else { return }
        var hasMore = false
        for (id, export) in exports {
            var left = Self.stepsPerRound
            stepping: while true {
                switch export.step() {
                case .over:
                    exports[id] = nil
                    break stepping
                case .waits: break stepping
                case .more:
                    left -= 1
                    if left == 0 {
                        hasMore = true
                        break stepping
                    }
                }
            }
        }
        if hasMore { inbox.wake() }
    }

    /// Cuts the exports whose clients have taken nothing for long.
    func cutSilentExports(now: Int64) {
        for (id, export) in exports where export.cutIfSilent(now: now) { exports[id] = nil }
    }
}
