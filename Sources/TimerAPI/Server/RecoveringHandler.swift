import HTTPServer
import Platform
import TimerService

/// Answers the requests of one I/O loop while the log is read: health checks by whether the reading makes progress, and
/// every other request with 503.
///
/// The handler answers each request at its head and keeps no state, so that another handler can take
/// its place at any moment.
final class RecoveringHandler: LoopHandler {
    private let recovery: Heartbeat
    private let configuration: APIConfiguration
    private let ids = IDSource()
    private let scratch = Scratch()

    /// - Parameter recovery: the heartbeat of the reading of the log.
    init(_ recovery: Heartbeat, _ configuration: APIConfiguration) {
        self.recovery = recovery
        self.configuration = configuration
    }

    func admit(_ exchange: Exchange) -> Admission {
        let ticket = ticket(for: exchange)
        // A server that forwarded the request looks for one that serves.
        ticket.outcome = exchange.isFromPeer ? .problem(.misdirectedByPeer) : outcome(of: ticket)
        answer(ticket)
        return .refuse
    }

    func renderRefusal(_ refusal: Refusal, into exchange: Exchange) {
        let ticket = ticket(for: exchange)
        ticket.outcome = .problem(Problem(refusal))
        answer(ticket)
    }

    private func ticket(for exchange: Exchange) -> Ticket {
        let ticket = Ticket(exchange, scratch)
        ticket.identify(ids)
        return ticket
    }

    private func outcome(of ticket: Ticket) -> Outcome {
        if ticket.exchange.method == .get || ticket.exchange.method == .head,
            (try? ticket.target.read(ticket.exchange.target)) != nil,
            case .route(let route, _) = Routing.match(ticket.target.parts)
        {
            if route == .healthz {
                let isStalled = recovery.silence > LoopWatchdog.unhealthySeconds
                return Pages.health(stalled: isStalled ? [recovery.name] : [])
            }
            if route == .readyz { return Pages.readiness("recovering") }
        }
        return .problem(
            Problem(.storageUnavailable, "the server is starting and still reads its log; nothing was changed"))
    }

    /// Fills the response. A client whose health check fails is asked to try again after a second.
    private func answer(_ ticket: Ticket) {
        Renderer.render(ticket)
        if case .page(503, _, _) = ticket.outcome { ticket.exchange.response.add("Retry-After", "1") }
        configuration.log(ticket)
    }

    func handle(_ exchange: Exchange, _ answer: consuming Answer) {
        preconditionFailure("a request is answered as its head comes, none is admitted")
    }
}
