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
    /// Streams that other servers make for clients of this one, and those of them that no server makes now, in the order in
    /// which they are tried.
    private var streams: [ObjectIdentifier: RelayedStream] = [:]
    private var broken: [RelayedStream] = []
    /// The instant at which the waiting requests are tried again, by the monotonic clock in nanoseconds.
    private var nextTry: Int64 = 0

    /// Nanoseconds between two tries to send the requests that wait.
    private static let retryPause: Int64 = 25_000_000
    /// The streams, and the long polls that have begun, that are asked for in one try: with all of ten thousand at once, an owner that has just begun would answer
    /// nobody else for a while.
    private static let mostStreamsAtOnce = 250

    init(_ forwarding: Forwarding, _ handler: TimerHandler, _ loop: Loop) {
        self.forwarding = forwarding
        self.handler = handler
        self.loop = loop
        routes = Published.Copy(forwarding.source.routes)
        forwarding.source.observeRoutes { loop.wake() }
    }

    // MARK: What the handler asks for

    func take(_ ticket: Ticket) {
        switch ticket.opened.take() {
        case .stream(let stream): goOnLater(relay(ticket, stream, nil, handler.format(of: ticket)))
        case .poll(let parked): begin(ForwardedRequest(ticket, self, parked))
        case nil: begin(ForwardedRequest(ticket, self))
        }
    }

    private func begin(_ request: ForwardedRequest) {
        requests[ObjectIdentifier(request)] = request
        request.send()
    }

    func retry(now: Int64) {
        followRoutes()
        guard !ownerless.isEmpty || !broken.isEmpty else { return }
        let again = ownerless
        ownerless.removeAll(keepingCapacity: true)
        nextTry = now + Self.retryPause
        var polls = 0
        var later: [ForwardedRequest] = []
        for request in again {
            if request.hasBegun { polls += 1 }
            if request.hasBegun, polls > Self.mostStreamsAtOnce {
                later.append(request)
            } else {
                request.retry(now: now)
            }
        }
        ownerless = later + ownerless
        let tried = broken.prefix(Self.mostStreamsAtOnce)
        broken.removeFirst(tried.count)
        for stream in tried where !stream.goOn() { broken.append(stream) }
    }

    var deadline: Int64? { ownerless.isEmpty && broken.isEmpty ? nil : nextTry }

    func tick(now: Int64) {
        for request in requests.values { request.tick(now: now) }
        for stream in streams.values { stream.tick(now: now) }
    }

    func drain() {
        for request in requests.values { request.drain() }
        for stream in streams.values { stream.drain() }
    }

    func end(where hasEnded: (Ticket) -> Bool) {
        for request in requests.values where hasEnded(request.ticket) { request.endUnauthorized() }
        for stream in streams.values where hasEnded(stream.ticket) { stream.endUnauthorized() }
    }

    // MARK: What a request asks for

    /// Whether the server that answers is known.
    var knowsOwner: Bool {
        followRoutes()
        return routes.value.owner != nil
    }

    /// Sends a request to the server that answers for it; nil where none is known, or it takes none now.
    func call(_ ticket: Ticket, to receiver: any PeerCallReceiver) -> PeerCall? {
        guard let destination = routes.value.owner, let link = link(to: destination) else { return nil }
        var added = [("request-id", ticket.requestID), handler.client(of: ticket)]
        if ticket.isStream {
            added.append((StreamRest.header, StreamRest.headerValue(ticket.rest, now: Clocks.monotonic())))
        }
        return link.forward(
            ticket.exchange, leavingOut: { $0.equalsIgnoringCase("request-id") || Self.isForServers($0) },
            adding: added,
            to: receiver)
    }

    /// Whether only servers send each other the header line of that name: what a client sends is not passed on.
    static func isForServers(_ name: HeaderValue) -> Bool {
        name.bytes.prefix(serverPrefix.count).elementsEqual(serverPrefix) { $0 | 0x20 == $1 }
    }

    /// The beginning of the names of header lines that servers send each other, in small letters; the hyphen has the bit
    /// that tells small letters from large ones as well.
    private static let serverPrefix = Array("timerd-".utf8)

    /// Whether the answer is this problem.
    func names(_ problem: StaticString, _ call: PeerCall) -> Bool {
        call.headers.first("timerd-problem")?.equals(problem) ?? false
    }

    /// Whether an answer with status 401 is about the credential of the client. If not, the other server does not take the
    /// token of this one, which is reported.
    func isOfClient(_ call: PeerCall) -> Bool {
        if names(TimerHandler.clientUnauthorized, call) { return true }
        forwarding.tokenWasRefused()
        return false
    }

    /// Passes on to a client what another server makes; see `RelayedStream`.
    func relay(_ ticket: Ticket, _ stream: DetachedStream, _ call: PeerCall?, _ format: StreamFormat?) -> RelayedStream
    {
        let relay = RelayedStream(ticket, self, stream, call, format)
        streams[ObjectIdentifier(relay)] = relay
        return relay
    }

    /// Keeps a stream until a server goes on with it.
    func goOnLater(_ stream: RelayedStream) {
        if ownerless.isEmpty && broken.isEmpty { nextTry = Clocks.monotonic() + Self.retryPause }
        broken.append(stream)
    }

    /// Drops a stream that is over.
    func forget(_ stream: RelayedStream) { streams[ObjectIdentifier(stream)] = nil }

    /// Keeps a request for the next try.
    func waitForOwner(_ request: ForwardedRequest) {
        if ownerless.isEmpty && broken.isEmpty { nextTry = Clocks.monotonic() + Self.retryPause }
        ownerless.append(request)
    }

    /// Drops a request that is over.
    func forget(_ request: ForwardedRequest) { requests[ObjectIdentifier(request)] = nil }

    // MARK: Routes

    /// Adopts the newest routes. Connections to servers that are no longer destinations are given up: a server whose
    /// session has ended has no lease and answers nothing, so requests under way there fail, and may be sent
    /// elsewhere. One that leaves in order has said so by the connection, and ends that itself.
    private func followRoutes() {
        guard routes.refresh() else { return }
        let destinations = routes.value.destinations
        let gone = links.filter { session, _ in !destinations.contains { $0.session == session } }
        for session in gone.keys { links[session] = nil }
        for (_, link) in gone.values { link.abandon() }
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
