import HTTPServer
import Platform
import TimerService

/// The beginning of exports.
extension TimerHandler {
    /// Begins an export, which takes the connection over. Only the server that owns the log answers it.
    func beginExport(_ ticket: Ticket) {
        var showsSecrets = false
        let log: ActiveLog
        do throws(Problem) {
            var query = QueryReader(ticket.target)
            showsSecrets = try query.flag("secrets", default: false)
            try query.finish()
            if isDraining { throw .stopping }
            guard let owned = context.service.log.value else { throw context.elsewhere(ticket) }
            log = owned
        } catch {
            return respond(ticket, with: error)
        }
        guard let credential = gatekeeper.open(ticket) else { return respond(ticket, with: .unknownCredential) }
        guard let answer = ticket.answer.take() else { return }
        ticket.beginResponse()
        fillStreamHead("application/x-ndjson", ticket)
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
            exports.add(export, credential)
        case .refused(let answer, let reason):
            refuseStream(consume answer, reason, ticket)
        }
    }
}
