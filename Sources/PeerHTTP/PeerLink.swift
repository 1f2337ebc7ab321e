import Glibc
package import HTTPServer
import Platform

/// A connection of one loop to another server, by which requests are forwarded: many at once, and those of one
/// round of the loop together. Confined to the loop.
///
/// The link connects when it is made, and serves until it breaks; then another one is made. A request leaves once
/// the first bytes of the other server have come. From then on only GOAWAY and REFUSED_STREAM name requests that
/// the server has not looked at: a connection that breaks proves nothing about that, with or without a byte of an
/// answer, as the way back may have been cut long before.
package final class PeerLink {
    private unowned let links: LoopLinks
    private var loop: LoopCore { links.loop }
    private var link: LinkSocket?
    private var calls: [Int32: PeerCall] = [:]
    private var isConnected = false
    /// Whether bytes of the other server have come. No request leaves before, so the server has seen none until
    /// then.
    private var isGreeted = false
    /// Whether the other server takes no further requests by this connection.
    private var isLeaving = false
    private var silence = LinkSilence()
    private let authorization: [UInt8]
    private let madeAt: Int64

    /// The header with the instant at which a request was sent, in milliseconds of the sender's monotonic clock:
    /// instants of one connection compare with each other only.
    static let sentHeader: StaticString = "timerd-sent"
    /// Nanoseconds after which a connection that is not made yet is closed.
    private static let longestConnecting: Int64 = 2_000_000_000

    /// Connects to `address`; nil where the loop has ended.
    ///
    /// - Parameters:
    ///   - links: those of the loop on whose thread this is called.
    ///   - token: proves to the other server that this one may forward.
    package init(to address: PeerAddress, among links: LoopLinks, token: [UInt8]) {
        self.links = links
        authorization = Array("Bearer ".utf8) + token
        madeAt = links.loop.now
        let session = HTTP2Session(.client)
        session.events = self
        guard let descriptor = address.address.connect() else { return }
        link = links.watch(descriptor, .writable) { tag in
            LinkSocket(descriptor, among: links, tag: tag, session, isConnecting: true, watched: .writable)
        }
        if let link { link.owner = self } else { Glibc.close(descriptor) }
    }

    /// Whether the link takes requests, which leave once it is connected.
    package var isUsable: Bool { link != nil && !isLeaving }

    /// Forwards the request of `exchange`, with its method, target, header lines and body. Returns nil where the
    /// connection takes none.
    ///
    /// - Parameters:
    ///   - leavingOut: whether the header line of that name is not forwarded.
    ///   - adding: further header lines.
    package func forward(
        _ exchange: Exchange, leavingOut: (HeaderValue) -> Bool, adding: [(name: StaticString, value: [UInt8])],
        to receiver: any PeerCallReceiver
    ) -> PeerCall? {
        guard let link, isUsable else { return nil }
        var fields = HTTP2Fields()
        fields.add(":method", exchange.method == .other ? exchange.methodText : Array("\(exchange.method.name)".utf8))
        fields.add(":scheme", "http".utf8)
        fields.add(":authority", "timerd".utf8)
        fields.add(":path", exchange.target, isRare: true)
        fields.add("authorization", authorization)
        fields.add(Self.sentHeader, String(loop.now / 1_000_000).utf8, isRare: true)
        for (name, value) in ForwardedFields(exchange, leavingOut: leavingOut, adding: adding).all {
            fields.add(name, value, isRare: !Self.isFrequent(HeaderValue(name)))
        }
        let body = exchange.body
        guard let number = link.session.request(fields, content: body.isEmpty ? nil : body) else { return nil }
        let call = PeerCall(receiver, on: self)
        call.number = number
        if calls.isEmpty { silence.began(at: loop.now) }
        calls[number] = call
        link.noteBytes()
        return call
    }

    /// Closes the connection; the kernel still sends the bytes that it was handed.
    func finish() { link?.close() }

    /// Aborts the connection; calls under way fail.
    package func close() {
        link?.isBroken = true
        link?.close()
    }

    /// Aborts the connection to a server whose session has ended, unless that server leaves in order: then it has answered what
    /// it took, and the news of its end may have overtaken its answers.
    package func abandon() {
        link?.readAll()
        if !isLeaving { close() }
    }

    /// Whether the values of a header line come again and again, so that they are worth a place in the table of
    /// fields.
    private static func isFrequent(_ name: HeaderValue) -> Bool {
        let names: [StaticString] = ["content-type", "accept", "user-agent", "accept-encoding"]
        return names.contains { name.equalsIgnoringCase($0) }
    }

    func cancel(_ call: PeerCall) {
        guard calls.removeValue(forKey: call.number) != nil, let link else { return }
        link.session.cancel(call.number)
        link.noteBytes()
    }

    func consume(_ call: PeerCall, _ count: Int) {
        guard let link else { return }
        link.session.consume(call.number, count)
        link.noteBytes()
    }
}

extension PeerLink: HTTP2Events {
    /// An answer's head begins.
    func headBegan(_ stream: Int32) {
        // A later head is a trailer, which timerd never sends.
        guard let call = calls[stream], call.status == 0 else { return }
        call.headers.reset()
    }

    /// A field of an answer's head has come.
    func fieldCame(_ stream: Int32, name: Span<UInt8>, value: Span<UInt8>) {
        guard let call = calls[stream] else { return }
        if name.count > 0 && name[0] == UInt8(ascii: ":") {
            call.status = value.indices.reduce(0) { $0 * 10 + Int(value[$1] &- 0x30) }
        } else if call.headers.bytes.count <= loop.limits.headerBytes {
            call.headers.append(name: name, value: value)
        }
    }

    /// An answer's head is complete.
    func headEnded(_ stream: Int32) {
        guard let call = calls[stream] else { return }
        links.noteProgress()
        guard call.status >= 200 else {
            call.receiver?.interimCame(call)
            call.status = 0
            return
        }
        call.receiver?.headCame(call)
    }

    /// Content of an answer has come.
    func contentCame(_ stream: Int32, _ bytes: Span<UInt8>) {
        guard let call = calls[stream], let receiver = call.receiver else {
            link?.session.consume(stream, bytes.count)
            return
        }
        receiver.contentCame(call, bytes)
    }

    /// An answer is complete.
    func contentEnded(_ stream: Int32) {
        guard let call = calls[stream] else { return }
        call.isComplete = true
        links.noteProgress()
        call.receiver?.ended(call)
        call.receiver = nil
    }

    /// Does nothing: requests are sent as a whole.
    func contentSent(_ stream: Int32) {}

    /// An answer is over, complete or not.
    func streamClosed(_ stream: Int32, isRefused: Bool) {
        if let call = calls.removeValue(forKey: stream), !call.isComplete { fail(call, isUnprocessed: isRefused) }
        closeIfLeft()
    }

    /// The other server takes no further requests by this connection.
    func goAwayCame(last: Int32) {
        isLeaving = true
        for (stream, call) in calls where stream > last {
            calls[stream] = nil
            fail(call, isUnprocessed: true)
        }
        closeIfLeft()
    }

    /// Closes a connection that takes nothing further and owes nothing. The other server waits for that: if it
    /// closed with bytes of this server unread, the kernel would drop those that it still had to send.
    private func closeIfLeft() {
        if isLeaving && calls.isEmpty { links.noteLeft(self) }
    }

    private func fail(_ call: PeerCall, isUnprocessed: Bool) {
        links.noteProgress()
        call.receiver?.failed(call, isUnprocessed: isUnprocessed)
        call.receiver = nil
    }
}

extension PeerLink: LinkSocket.Owner {
    var isAccepted: Bool { false }

    var isBusy: Bool { false }

    func linkConnected() { isConnected = true }

    func bytesWereRead() {}

    var maySend: Bool { isGreeted }

    func bytesArrived() { isGreeted = true }

    func linkClosed() {
        let isUnprocessed = !isGreeted
        link = nil
        let left = calls
        calls = [:]
        for call in left.values where !call.isComplete { fail(call, isUnprocessed: isUnprocessed) }
    }

    func tick(now: Int64) {
        guard let link else { return }
        if !isConnected {
            if now - madeAt > Self.longestConnecting { link.close() }
        } else if !calls.isEmpty {
            switch silence.verdict(at: now, lastReceivedAt: link.lastReceivedAt) {
            case .usual: break
            case .tooLong: close()
            case .askForSign:
                link.session.ping()
                link.noteBytes()
            }
        }
    }

    func drain() {}
}

/// The silence of the other server while an answer is awaited: from the first request that awaits one, or from the last
/// byte since. A connection that nothing was asked of may be silent.
struct LinkSilence {
    private var beganAt: Int64 = 0
    private var pingedAt: Int64 = 0

    /// The meaning of a silence.
    enum Verdict { case usual, askForSign, tooLong }

    /// Nanoseconds of silence after which the other server is asked for a sign of life.
    private static let patience: Int64 = 1_000_000_000
    /// Nanoseconds of silence after which the connection is aborted.
    private static let longest: Int64 = 4_000_000_000

    /// Notes that a request was sent while no answer was awaited.
    mutating func began(at now: Int64) { beganAt = now }

    /// Judges the silence at `now`, in monotonic nanoseconds; an answer of `askForSign` counts as a ping. The connection is
    /// never aborted before a ping: this process may have stood still itself.
    mutating func verdict(at now: Int64, lastReceivedAt: Int64) -> Verdict {
        let since = max(beganAt, lastReceivedAt)
        if pingedAt >= since { return now - max(since, pingedAt - Self.patience) > Self.longest ? .tooLong : .usual }
        guard now - since > Self.patience else { return .usual }
        pingedAt = now
        return .askForSign
    }
}

/// The address at which another server takes forwarded requests.
package struct PeerAddress: Sendable, Equatable {
    let address: SocketAddress

    /// Makes an address; nil unless `host` is `localhost` or an IP literal, without brackets.
    package init?(host: String, port: UInt16) {
        guard let address = SocketAddress(host: host, port: port) else { return nil }
        self.address = address
    }
}

extension PeerAddress: CustomStringConvertible {
    /// `127.0.0.1:5000` or `[::1]:5000`.
    package var description: String { address.description }
}
