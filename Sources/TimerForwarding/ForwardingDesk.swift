import HTTPServer
import PeerHTTP
import Platform
import TimerAPI

/// The requests of a loop that another server answers: they wait until that server is known, and are sent there. Confined to
/// the loop.
final class ForwardingDesk: RequestDesk {
    let forwarding: Forwarding
    /// The handler that owns the desk.
    unowned let handler: TimerHandler
    private let loop: Loop
    private var routes: Published<ClusterRoutes>.Copy
    /// The connections to the servers to which it forwards, one to each, by their sessions.
    private var links: [Int64: (address: PeerAddress, link: PeerLink)] = [:]
    /// Requests under way, and those of them that wait for a server.
    private var requests: [ObjectIdentifier: ForwardedRequest] = [:]
    private var ownerless: [ForwardedRequest] = []
    /// The instant at which the waiting requests are tried again, by the monotonic clock in nanoseconds.
    private var nextTry: Int64 = 0

    /// Nanoseconds between two tries to send the requests that wait.
    private static let retryPause: Int64 = 25_000_000

    init(_ forwarding: Forwarding, _ handler: TimerHandler, _ loop: Loop) {
        self.forwarding = forwarding
        self.handler = handler
        self.loop = loop
        routes = Published.Copy(forwarding.source.routes)
        forwarding.source.observeRoutes { loop.wake() }
    }

    // MARK: What the handler asks for

    func take(_ ticket: Ticket) {
        let request = ForwardedRequest(ticket, self)
        requests[ObjectIdentifier(request)] = request
        request.send()
    }

    func retry(now: Int64) {
        followRoutes()
        guard !ownerless.isEmpty else { return }
        let again = ownerless
        ownerless.removeAll(keepingCapacity: true)
        nextTry = now + Self.retryPause
        for request in again { request.retry(now: now) }
    }

    var deadline: Int64? { ownerless.isEmpty ? nil : nextTry }

    func tick(now: Int64) {
        for request in requests.values { request.tick(now: now) }
    }

    func drain() {
        for request in requests.values { request.drain() }
    }

    func end(where hasEnded: (Ticket) -> Bool) {
        for request in requests.values where hasEnded(request.ticket) { request.endUnauthorized() }
    }

    // MARK: What a request asks for

    /// Whether the server that answers is known.
    var knowsOwner: Bool {
        followRoutes()
        return routes.value.owner != nil
    }

    /// Sends a request to the server that answers for it; nil where none is known, or it takes none now.
    func call(_ request: ForwardedRequest) -> PeerCall? {
        guard let destination = routes.value.owner, let link = link(to: destination) else { return nil }
        let ticket = request.ticket
        let client = handler.client(of: ticket)
        return link.forward(
            ticket.exchange,
            leavingOut: { $0.equalsIgnoringCase("request-id") || $0.equalsIgnoringCase(client.name) },
            adding: [("request-id", ticket.requestID), client], to: request)
    }

    /// Keeps a request for the next try.
    func waitForOwner(_ request: ForwardedRequest) {
        if ownerless.isEmpty { nextTry = Clocks.monotonic() + Self.retryPause }
        ownerless.append(request)
    }

    /// Drops a request that is over.
    func forget(_ request: ForwardedRequest) { requests[ObjectIdentifier(request)] = nil }

    // MARK: Routes

    /// Adopts the newest routes. Connections to servers that are no longer destinations are closed: a server whose
    /// session has ended has no lease and answers nothing, so requests under way there fail, and may be sent
    /// elsewhere.
    private func followRoutes() {
        guard routes.refresh() else { return }
        let destinations = routes.value.destinations
        let gone = links.filter { session, _ in !destinations.contains { $0.session == session } }
        for session in gone.keys { links[session] = nil }
        for (_, link) in gone.values { link.close() }
    }

    /// A connection to `destination`: the known one while usable at the same address, else a new one; nil where the
    /// address is invalid or `loop` has no links.
    private func link(to destination: ClusterRoutes.Destination) -> PeerLink? {
        guard let address = PeerAddress(host: destination.host, port: destination.port),
            let all = PeerNetwork.links(on: loop)
        else { return nil }
        if let (known, link) = links[destination.session], known == address, link.isUsable { return link }
        let link = PeerLink(to: address, among: all, token: forwarding.token)
        links[destination.session] = (address, link)
        return link
    }
}
