package import HTTPServer
import TimerService

/// The desk that takes the requests of one loop which this server does not answer itself. Confined to the loop.
///
/// This file is all that the handler knows of other servers: `TimerForwarding` has the desk.
package protocol RequestDesk: AnyObject {
    /// Takes a request over, which then ends with an answer, or with `TimerHandler.answerLocally`. A stream or long poll that
    /// has begun is in `ticket.opened`, and its rest in `ticket.rest`.
    func take(_ ticket: Ticket)
    /// Tries again what waits, as the owner may have changed. `now` is the monotonic clock's, in nanoseconds.
    func retry(now: Int64)
    /// The instant at which `retry` is to be called, by the monotonic clock in nanoseconds; nil for never.
    var deadline: Int64? { get }
    /// Called about once a second.
    func tick(now: Int64)
    /// Ends the streams, as the server stops soon.
    func drain()
    /// Ends the requests of clients whose credentials have ended.
    func end(where hasEnded: (Ticket) -> Bool)
}

/// The maker of the loops' desks, with their counts. May be used on any thread.
package protocol RequestDesks: Sendable {
    /// Whether a server is known that answers for the timers, other than this one, as far as requests and the database tell.
    var knowsOwner: Bool { get }
    /// Requests by outcome, for the metrics.
    var counts: [(outcome: String, count: Int)] { get }
    /// Makes the desk of a loop, on any thread and before the loop's handler serves.
    func makeDesk(for handler: TimerHandler, on loop: Loop) -> any RequestDesk
}

extension TimerHandler {
    /// Hands a request to the desk. Returns false where there is none, or another server has forwarded the request.
    func forward(_ ticket: Ticket) -> Bool {
        guard let desk, !ticket.exchange.isFromPeer else { return false }
        if ticket.exchange.isBodyTooLarge {
            respond(ticket, with: reader.tooLarge(ticket))
            return true
        }
        if ticket.isStream && !stillTakes(ticket) {
            respond(ticket, with: .unknownCredential)
            return true
        }
        // Before its owner counts a subscriber, which may start the timer.
        if ticket.route.isStream, ticket.exchange.method == .get, ticket.opened == nil,
            context.streamCount >= context.configuration.maximumStreams, let answer = ticket.answer.take()
        {
            refuseStream(answer, .limitReached, ticket)
            return true
        }
        desk.take(ticket)
        return true
    }

    /// The request of a stream or long poll, where another server may go on with it.
    func kept(_ ticket: Ticket) -> Ticket? { desk == nil || ticket.exchange.isFromPeer ? nil : ticket }

    // MARK: What a desk asks for

    /// Whether this server answers a request itself by now.
    package func answersItself(_ ticket: Ticket) -> Bool { (try? context.checkRole(ticket)) != nil }

    /// Begins a request here that a desk had taken.
    package func answerLocally(_ ticket: Ticket) {
        if ticket.opened != nil { return restart(ticket) }
        begin(ticket)
        inbox.wake()
    }

    /// The nanoseconds between heartbeats on a stream.
    package var heartbeat: Int64 { streams.heartbeat }

    /// The header by which the owner of the log learns who the client of a request is, and its value.
    package func client(of ticket: Ticket) -> (name: StaticString, value: [UInt8]) {
        (Gate.clientHeader, Gate.client(ticket.exchange, ticket.principal))
    }

    /// The URL of the node that answers for the timers; nil where none is known.
    package var owner: String? { context.service.owner }

    /// The name of the problem `unauthorized` for another server, if the credential at fault is that of its client.
    package static let clientUnauthorized: StaticString = "client-unauthorized"

    /// Whether the credential of a client is still good, for whom a stream is to open.
    package func stillTakes(_ ticket: Ticket) -> Bool { gatekeeper.open(ticket) != nil }

    /// Fills the response of a request whose client's credential has ended.
    package func fillUnauthorized(_ ticket: Ticket) { fill(.unknownCredential, ticket) }

    /// Fills the response with a refusal.
    package func fill(_ problem: Problem, _ ticket: Ticket) {
        ticket.outcome = .problem(problem)
        ticket.exchange.response.reset()
        Renderer.render(ticket)
    }

    /// The format of a stream's events.
    package func format(of ticket: Ticket) -> StreamFormat { plan(of: ticket)?.format ?? .ndjson }

    /// Whether a stream that is forwarded ends with the newest event.
    package func isHistory(_ ticket: Ticket) -> Bool { plan(of: ticket).map { !$0.follows } ?? false }

    /// Fills the response of a stream or long poll that is forwarded and not answered yet, as this server stops: for a
    /// poll 204 with the event id behind which it waits. If that is not known, the owner has not begun it.
    package func fillStop(_ ticket: Ticket) {
        guard ticket.isLongPoll, let since = ticket.rest?.examined ?? plan(of: ticket)?.since else {
            return fill(.stopping, ticket)
        }
        ticket.fillNothing(after: since)
    }

    /// Sets the rest of a forwarded stream or long poll whose answer begins with these header lines.
    package func noteBegin(_ ticket: Ticket, _ headers: RequestHeaders) {
        guard let plan = plan(of: ticket) else { return }
        // An owner of an earlier version names the newest id alone.
        let named = headers.first(StreamRest.beginHeader) ?? (plan.since == nil ? headers.first("event-id") : nil)
        let begin = named.flatMap { EventID(shown: $0.bytes) } ?? plan.since ?? .beginning
        let deadline = plan.timeout.map { ticket.exchange.startedAt + $0 * 1_000_000 }
        ticket.rest = StreamRest(examined: begin, left: plan.limit, deadline: deadline)
    }

    /// The plan of a stream or long poll; nil if the owner will refuse the request.
    func plan(of ticket: Ticket) -> StreamPlan? {
        ticket.isStream ? try? StreamReader(siphash: reader.siphash).plan(ticket) : nil
    }
}
