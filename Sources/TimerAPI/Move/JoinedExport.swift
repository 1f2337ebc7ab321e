import HTTPServer
import Platform
import Primitives
import WireJSON

/// An export of partitions that several servers own. Their owners write its lines, one owner after the other, and this passes them
/// on as fast as the client reads. Confined to its loop.
///
/// One owner at a time is asked, by a connection of its own: an export whose client reads slowly holds up no other request, and
/// at the owner no more than its stream's buffers. Where anything is not as it should be, the client's stream is cut.
final class JoinedExport: PeerCallReceiver, DelegatedRequest {
    let ticket: Ticket
    private let stream: DetachedStream
    private unowned let handler: TimerHandler
    private let target: [UInt8]
    private let requestID: [UInt8]
    private var legs: ExportLegs
    private var leg: ExportLegs.Leg?
    private var call: PeerCall?
    private var link: PeerLink?
    /// How an owner's partitions stand, as far as that has come.
    private var answer: [UInt8] = []
    /// Bytes that the owner was not told of yet, as the client has not taken them.
    private var unread = 0
    private var silence = ClientSilence(at: Clocks.monotonic())
    private var isDone = false

    /// Bytes a client may leave unread before the owner is told to wait.
    private static let mostBuffered = 64 * 1024
    /// Most bytes of an owner's answer how its partitions stand.
    private static let mostAnswered = 64 * 1024

    init(_ ticket: Ticket, _ stream: DetachedStream, _ handler: TimerHandler, _ legs: ExportLegs) {
        self.ticket = ticket
        self.stream = stream
        self.handler = handler
        self.legs = legs
        // The ticket is its connection's, which may have another request next.
        (target, requestID) = (ticket.exchange.target, ticket.requestID)
    }

    /// Sends the first line, and asks the first owner.
    func begin(_ head: [UInt8]) {
        send(head)
        goOn()
    }

    private func goOn() {
        guard !isDone else { return }
        closeLink()
        guard let next = legs.next() else { return finish() }
        var adding: [(name: StaticString, value: [UInt8])] = [
            ("request-id", requestID), (PartHeader.partitions, Array(next.scope.text.utf8)),
        ]
        if let text = next.portion?.text { adding.append((PartHeader.export, text)) }
        (leg, answer) = (next, [])
        switch next.owner {
        case .itself:
            call = handler.links.askItself(.get, target, adding: adding, to: self)
        case .node(let session):
            link = handler.newLink(to: session)
            call = link?.send(.get, target, adding: adding, content: [], to: self)
        }
        if call == nil { cut() }
    }

    private func finish() {
        guard legs.isWhole else { return cut() }
        var json = JSONWriter()
        // The first line counts.
        ExportLine.writeEnd(lines: legs.lines + 1, &json)
        end()
        stream.send(StreamChunk(json.bytes))
        stream.finish()
    }

    private func send(_ bytes: [UInt8]) {
        silence.look(buffered: stream.bufferedBytes, at: Clocks.monotonic())
        stream.send(StreamChunk(bytes))
        silence.wrote(buffered: stream.bufferedBytes)
    }

    private func end() {
        isDone = true
        call = nil
        closeLink()
        handler.forget(self)
    }

    private func closeLink() {
        let old = link
        link = nil
        old?.close()
    }

    /// Ends it so that the client sees that something is missing.
    private func cut() {
        guard !isDone else { return }
        let call = call
        end()
        call?.cancel()
        stream.abort()
    }

    // MARK: The owner's answer

    func headCame(_ call: PeerCall) {
        if call === self.call && call.status != 200 { cut() }
    }

    func contentCame(_ call: PeerCall, _ bytes: Span<UInt8>) {
        guard call === self.call, !isDone else { return call.consume(bytes.count) }
        guard leg?.portion != nil else {
            answer.append(copying: bytes)
            call.consume(bytes.count)
            if answer.count > Self.mostAnswered { cut() }
            return
        }
        legs.came(bytes)
        unread += bytes.count
        send([UInt8](copying: bytes))
        if stream.bufferedBytes <= Self.mostBuffered { streamWritable() }
    }

    func ended(_ call: PeerCall) {
        guard call === self.call, !isDone, let leg else { return }
        self.call = nil
        unread = 0
        if leg.portion == nil {
            guard let standing = ExportStanding(answer, of: leg.scope) else { return cut() }
            legs.stand(standing)
        } else if !legs.endedWhole() {
            return cut()
        }
        goOn()
    }

    func failed(_ call: PeerCall, isUnseen: Bool) {
        if call === self.call { cut() }
    }

    // MARK: The client

    /// The client takes more.
    func streamWritable() {
        call?.consume(unread)
        unread = 0
    }

    /// The client has gone.
    func clientGone() {
        guard !isDone else { return }
        let call = call
        end()
        call?.cancel()
    }

    func retry(now: Int64) {}

    func tick(now: Int64) {
        silence.look(buffered: stream.bufferedBytes, at: now)
        if silence.isTooLong(at: now) { cut() }
    }

    func drain() { cut() }
}
