import HTTPServer
import Platform
import TimerLog
import TimerService

/// Requests that other servers answer.
extension TimerHandler {
    /// Nanoseconds between two tries to send the requests that wait.
    private static let retryPause: Int64 = 25_000_000

    /// Has another server answer, if this one forwards. Returns false where it does not.
    func forward(_ ticket: Ticket) -> Bool {
        guard routes != nil, !ticket.exchange.isFromPeer else { return false }
        // Before its owner counts a subscriber, which may start the timer.
        if ticket.route.isStream, ticket.exchange.method == .get,
            context.streamCount >= context.configuration.maximumStreams, let answer = ticket.answer.take()
        {
            refuseStream(answer, .limitReached, ticket)
            return true
        }
        let request = ForwardedRequest(ticket, self)
        forwarded[ObjectIdentifier(request)] = request
        request.send()
        return true
    }

    /// Whether it is known which server answers.
    var knowsOwner: Bool {
        followRoutes()
        return routes?.value.owner != nil
    }

    /// Sends a request to the server that answers for it; nil where none is known, or it takes none now.
    func call(_ request: ForwardedRequest, of exchange: Exchange, requestID: [UInt8]) -> PeerCall? {
        guard let destination = routes?.value.owner,
            let link = links.link(to: destination)
        else { return nil }
        return link.forward(
            exchange, leavingOut: { $0.equalsIgnoringCase("request-id") }, adding: [("request-id", requestID)],
            to: request)
    }

    /// Follows where requests are forwarded to.
    private func followRoutes() {
        guard routes?.refresh() ?? false else { return }
        // What is under way there fails, and may be sent elsewhere.
        for link in links.takeGone(routes?.value.destinations ?? []) { link.close() }
    }

    /// Has a request wait for the next try.
    func waitForOwner(_ request: ForwardedRequest) {
        if ownerless.isEmpty { nextOwnerTry = Clocks.monotonic() + Self.retryPause }
        ownerless.append(request)
    }

    /// Tries the requests again that wait.
    func retryForwarded(now: Int64) {
        followRoutes()
        guard !ownerless.isEmpty else { return }
        let again = ownerless
        ownerless.removeAll(keepingCapacity: true)
        nextOwnerTry = now + Self.retryPause
        for request in again { request.retry(now: now) }
    }

    /// Whether this server answers a request itself.
    func answersItself(_ ticket: Ticket) -> Bool { context.refusal(of: ticket) == nil }

    /// Answers a request here that was to be forwarded.
    func takeBack(_ ticket: Ticket) {
        for request in forwarded.values where request.ticket === ticket { forget(request) }
        begin(ticket)
        inbox.wake()
    }

    /// The request is over.
    func forget(_ request: ForwardedRequest) { forwarded[ObjectIdentifier(request)] = nil }

    /// Looks, about once a second, after the requests under way.
    func tickForwarded(now: Int64) {
        for request in forwarded.values { request.tick(now: now) }
    }
}
