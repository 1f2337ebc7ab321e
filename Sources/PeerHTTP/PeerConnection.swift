import Glibc
import HTTPServer
import Platform

/// A connection by which another server forwards requests. Each request becomes an `Exchange` of the loop, like
/// one of a client's.
final class PeerConnection: LinkSocket.Owner, HTTP2Events {
    private unowned let links: LoopLinks
    var loop: LoopCore { links.loop }
    private let peer: SocketAddress?
    private var link: LinkSocket!
    private var session: HTTP2Session { link.session }
    /// Requests under way, by stream.
    private var exchanges: [Int32: Exchange] = [:]
    private var sinks: [Int32: PeerSink] = [:]
    /// Whether a request was admitted on this connection.
    private var hasServed = false
    /// Requests that came whole in the bytes read last. They are handled once all these bytes were looked at: the
    /// other server may have cancelled some of them, as requests and cancellations arrive together after a cut.
    private var complete: [Int32] = []
    private var transit = RequestTransit()
    /// The instant at which the other server was told that the connection ends, as it had been without a request for too
    /// long; nil before.
    private var leftAt: Int64?
    /// Exchanges without a request.
    private var spare: [Exchange] = []

    /// Exchanges that are kept for further requests.
    private static let mostSpare = 64
    /// Nanoseconds after which a connection is closed though the other server could not be told that it ends.
    private static let longestLeave: Int64 = 10_000_000_000

    private init(among links: LoopLinks, peer: SocketAddress?) {
        self.links = links
        self.peer = peer
    }

    /// Serves the connection, whose socket it takes over.
    static func begin(_ descriptor: Int32, among links: LoopLinks, peer: SocketAddress?) {
        let connection = PeerConnection(among: links, peer: peer)
        var limits = HTTP2Session.Limits()
        limits.streams = UInt32(clamping: links.limits.requests)
        let session = HTTP2Session(.server, limits)
        session.events = connection
        let link = links.watch(descriptor, .readable) { tag in
            LinkSocket(descriptor, among: links, tag: tag, session, isConnecting: false, watched: .readable)
        }
        guard let link else {
            Glibc.close(descriptor)
            return
        }
        connection.link = link
        link.owner = connection
        link.noteBytes()
    }

    // MARK: Requests

    func headBegan(_ stream: Int32) {
        guard exchanges[stream] == nil, sinks[stream] == nil else { return }
        let exchange = spare.popLast() ?? Exchange(loop: loop, forwardedBy: peer)
        exchange.channel = PeerStream(connection: self, number: stream)
        exchanges[stream] = exchange
        exchange.forwardedHeadBegan()
    }

    func fieldCame(_ stream: Int32, name: Span<UInt8>, value: Span<UInt8>) {
        exchanges[stream]?.forwardedFieldCame(name, value)
    }

    func headEnded(_ stream: Int32) {
        guard let exchange = exchanges[stream] else { return }
        exchange.forwardedHeadEnded(isLate: isLate(exchange))
        if exchange.isAdmitted { hasServed = true }
    }

    func contentCame(_ stream: Int32, _ bytes: Span<UInt8>) {
        session.consume(stream, bytes.count)
        if let exchange = exchanges[stream], !exchange.bodyArrived(bytes) {
            session.cancel(stream)
        }
    }

    func contentEnded(_ stream: Int32) {
        complete.append(stream)
    }

    var isBusy: Bool { !sinks.isEmpty }

    var maySend: Bool { true }

    func bytesArrived() {}

    func bytesWereRead() {
        guard !complete.isEmpty else { return }
        links.noteProgress()
        for stream in complete { _ = exchanges[stream]?.requestIsComplete() }
        complete.removeAll(keepingCapacity: true)
    }

    /// Whether a request was over `PeerLimits.longestTransitMs` longer on its way than the quickest one.
    private func isLate(_ exchange: Exchange) -> Bool {
        let sent = exchange.header(PeerLink.sentHeader).flatMap { Int64($0.text) }
        guard let sent, sent >= 0 else { return false }
        let now = loop.now / 1_000_000
        return transit.isLate(lag: now &- sent, at: now, longest: links.limits.longestTransitMs)
    }

    func streamClosed(_ stream: Int32, isRefused: Bool) {
        if let exchange = exchanges.removeValue(forKey: stream), exchange.forwardEnded() {
            // The context that the handler has left holds the exchange: an exchange that is not used again drops
            // it.
            if spare.count < Self.mostSpare { spare.append(exchange) } else { exchange.context = nil }
        }
        sinks.removeValue(forKey: stream)?.streamClosed()
    }

    func goAwayCame(last: Int32) {}

    // MARK: Answers

    /// Sends an answer's head with its length, and its content if there is any.
    func send(_ stream: Int32, _ response: Response, length: Int, content: [UInt8]?) {
        var fields = response.fieldsForPeer
        fields.add("content-length", String(length).utf8, isRare: true)
        session.respond(stream, fields, content: content)
        link.noteBytes()
    }

    /// Sends an answer's head alone.
    func sendHead(_ stream: Int32, _ response: Response) {
        session.respond(stream, response.fieldsForPeer, content: nil)
        link.noteBytes()
    }

    /// Sends an interim response ahead of the answer.
    func sendInterim(_ stream: Int32, _ response: Response) {
        session.inform(stream, response.fieldsForPeer)
        link.noteBytes()
    }

    func takeSink(_ stream: Int32) -> PeerSink {
        let sink = PeerSink(self, stream)
        sinks[stream] = sink
        _ = exchanges.removeValue(forKey: stream)?.forwardEnded()
        return sink
    }

    func contentSent(_ stream: Int32) { sinks[stream]?.contentSent() }

    // MARK: Calls of a sink

    func begin(_ stream: Int32, _ response: Response) {
        session.respond(stream, response.fieldsForPeer, content: [], isWhole: false)
        link.noteBytes()
    }

    func write(_ stream: Int32, _ bytes: ArraySlice<UInt8>) {
        session.write(stream, bytes)
        link.noteBytes()
    }

    func finish(_ stream: Int32) {
        session.finish(stream)
        link.noteBytes()
    }

    func cancel(_ stream: Int32) {
        session.cancel(stream)
        link.noteBytes()
    }

    func waitingBytes(_ stream: Int32) -> Int { session.waitingBytes(stream) }

    // MARK: The connection

    var isAccepted: Bool { true }

    func linkConnected() {}

    func linkClosed() {
        for stream in Array(exchanges.keys) + Array(sinks.keys) { streamClosed(stream, isRefused: false) }
        for exchange in spare { exchange.context = nil }
        spare = []
    }

    /// Cancels requests that come too slowly, and ends a connection that has been without any for too long.
    func tick(now: Int64) {
        func isOver(_ seconds: Int, since instant: Int64) -> Bool { now - instant > Int64(seconds) * 1_000_000_000 }
        for (stream, exchange) in exchanges where exchange.isReceiving {
            if isOver(loop.limits.requestSeconds, since: exchange.since) { session.cancel(stream) }
        }
        let limit = hasServed ? links.limits.idleSeconds : loop.limits.firstByteSeconds
        if exchanges.isEmpty, sinks.isEmpty, isOver(limit, since: link.lastReceivedAt) { return endIdle(now) }
        link.noteBytes()
    }

    /// Ends the connection with a GOAWAY, which is followed by a close: without it, the sender of a request that crosses
    /// the close would not know that nobody has looked at the request.
    private func endIdle(_ now: Int64) {
        guard hasServed, now - (leftAt ?? now) <= Self.longestLeave else { return link.close() }
        guard leftAt == nil else { return }
        leftAt = now
        drain()
    }

    func drain() {
        session.leave()
        link.noteBytes()
    }
}

/// The time that the requests of a connection take on their way, which is measured by the clocks of two machines: only how much
/// longer one takes than another is known. All values are in milliseconds.
struct RequestTransit {
    /// The least difference so far between a request's arrival by this server's clock and its sending by the other's.
    private var leastLag = Int64.max
    /// The instant at which a request was late, and the least difference since.
    private var late: (since: Int64, leastLag: Int64)?

    /// For how long after a late request the way is measured again. The requests that were held up with it come meanwhile.
    static let remeasuring: Int64 = 1000

    /// Returns whether a request took over `longest` more than the quickest one.
    ///
    /// Clocks drift, until every request seems to be late: what a second without a quick request shows is the way from then on.
    mutating func isLate(lag: Int64, at now: Int64, longest: Int64) -> Bool {
        if let (since, least) = late {
            late?.leastLag = min(least, lag)
            if now - since > Self.remeasuring { (leastLag, late) = (min(least, lag), nil) }
        }
        leastLag = min(leastLag, lag)
        guard lag &- leastLag > longest else { return false }
        if late == nil { late = (now, lag) }
        return true
    }
}
