import HTTPServer
import PeerHTTP
import Platform
import Primitives
import TimerAPI

/// A stream that another server makes for a client of this one: of events, or an export.
///
/// A stream of events outlives the server that makes it: the next owner of the log goes on with it behind the last id examined,
/// and where that is this server, the stream becomes one of its own. An export breaks off.
final class RelayedStream: PeerCallReceiver, StreamProducer {
    let ticket: Ticket
    private unowned let desk: ForwardingDesk
    private var handler: TimerHandler { desk.handler }
    private let stream: DetachedStream
    /// The request at the other server; nil while no server makes the stream.
    private var call: PeerCall?
    /// The events that are passed on; nil for an export.
    private var events: RelayedEvents?
    /// The most events that were left when the newest server began.
    private var leftAtBegin: Int
    /// The bytes of the stream that are not reported as consumed to the other server yet, as the client has not taken them.
    private var unread = 0
    /// Whether the stream may have changed its timer, and has shown nothing yet.
    private var owesEvent: Bool
    /// The instant since which the stream is to end as soon as it owes no event, in monotonic nanoseconds.
    private var drainedSince: Int64?
    /// The instants at which something was last sent, and the client was last looked for, in monotonic nanoseconds.
    private var lastSent = Clocks.monotonic()
    private var lookedAt = Clocks.monotonic()
    private var isDone = false

    /// The bytes that a client may leave unread before the other server is made to wait.
    private static let mostBuffered = 64 * 1024
    /// The nanoseconds that a stopping server waits for the first event of a stream.
    private static let longestDrain: Int64 = 1_000_000_000

    /// Takes over a stream with a client.
    ///
    /// - Parameters:
    ///   - call: the request that the other server has begun to answer; nil while no server makes the stream.
    ///   - format: the format of its events; nil for an export.
    init(_ ticket: Ticket, _ desk: ForwardingDesk, _ stream: DetachedStream, _ call: PeerCall?, _ format: StreamFormat?)
    {
        self.ticket = ticket
        self.desk = desk
        self.stream = stream
        self.call = call
        events = format.map { RelayedEvents($0) }
        leftAtBegin = ticket.rest?.left ?? .max
        owesEvent = call != nil && ticket.maySubscribe
        stream.producer = self
        stream.filler = format?.filler
        call?.receiver = self
    }

    // MARK: From the other server

    func interimCame(_ call: PeerCall) {}

    /// Takes the head of the answer of the server that goes on with the stream.
    func headCame(_ call: PeerCall) {
        if call.status == 200, !call.hasLength {
            guard handler.stillTakes(ticket) else { return endUnauthorized() }
            desk.forwarding.count(.answered)
            return
        }
        self.call = nil
        call.cancel()
        let isOfClient = call.status != 401 || desk.isOfClient(call)
        guard isOfClient, call.status < 500, call.status != 421 else { return desk.goOnLater(self) }
        end()
        handler.end(stream, ticket, status: call.status)
    }

    func contentCame(_ call: PeerCall, _ bytes: Span<UInt8>) {
        unread += bytes.count
        let whole = events?.take(bytes) ?? [UInt8](copying: bytes)
        if !whole.isEmpty {
            stream.send(StreamChunk(whole))
            lastSent = Clocks.monotonic()
            owesEvent = false
        }
        if let events {
            if let examined = events.examined { ticket.rest?.examined = examined }
            ticket.rest?.left = leftAtBegin - events.count
            if events.isOverlong { return stream.abort() }
        }
        if stream.bufferedBytes <= Self.mostBuffered { streamWritable() }
        if drainedSince != nil { drain() }
    }

    func ended(_ call: PeerCall) {
        end()
        stream.finish()
    }

    func failed(_ call: PeerCall, isUnprocessed: Bool) {
        guard !isDone else { return }
        self.call = nil
        guard events != nil, let rest = ticket.rest else {
            // The client sees that something is missing, and asks again.
            end()
            return stream.abort()
        }
        guard rest.left > 0 else {
            end()
            return stream.finish()
        }
        unread = 0
        desk.goOnLater(self)
    }

    // MARK: From one owner to the next

    /// Asks the owner of the log to go on with the stream, or goes on here if that is this server. Returns false where no owner
    /// is known, or it takes no request now.
    func goOn() -> Bool {
        guard !isDone, call == nil else { return true }
        guard handler.stillTakes(ticket) else {
            endUnauthorized()
            return true
        }
        if handler.answersItself(ticket) {
            end()
            stream.producer = nil
            ticket.opened = .stream(stream)
            handler.answerLocally(ticket)
            return true
        }
        leftAtBegin = ticket.rest?.left ?? .max
        events = events.map { RelayedEvents($0.format) }
        call = desk.call(ticket, to: self)
        return call != nil
    }

    /// Sends a heartbeat while no server makes the stream, and aborts one whose client has vanished. Ends a stream that would
    /// hold a drain up. Called about once a second.
    func tick(now: Int64) {
        if let drainedSince, now - drainedSince > Self.longestDrain { return endStream() }
        let heartbeat = handler.heartbeat
        if now - lookedAt >= heartbeat {
            lookedAt = now
            if stream.isUnacknowledged(milliseconds: heartbeat / 1_000_000) { return stream.abort() }
        }
        guard call == nil, now - lastSent >= heartbeat, let rest = ticket.rest, let events else { return }
        lastSent = now
        stream.send(events.format.heartbeat(rest.examined))
    }

    // MARK: From the client

    /// Reports the bytes that the client has taken, so that the other server sends more of the stream.
    func streamWritable() {
        call?.consume(unread)
        unread = 0
    }

    func streamClosed() {
        guard !isDone else { return }
        let call = call
        end()
        call?.cancel()
    }

    private func end() {
        isDone = true
        call = nil
        desk.forget(self)
    }

    // MARK: From this server

    /// Ends the stream, as the server stops soon. A stream that may have started its timer shows that first. A history goes on,
    /// until the stop cuts it: it would look complete.
    func drain() {
        guard !handler.isHistory(ticket) else { return }
        guard owesEvent, call != nil else { return endStream() }
        if drainedSince == nil { drainedSince = Clocks.monotonic() }
    }

    /// Ends the stream, as the credential of its client has ended.
    func endUnauthorized() { endStream() }

    /// Ends the stream; without its last chunk where what came is not all of it.
    private func endStream() {
        guard !isDone else { return }
        streamClosed()
        if events == nil || handler.isHistory(ticket) { stream.abort() } else { stream.finish() }
    }
}
