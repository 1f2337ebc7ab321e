import HTTPServer
import PeerHTTP
import Platform
import Primitives
import TimerAPI

/// A request that another server answers. It waits until the server is known, is sent there, and its
/// answer is passed on.
///
/// Where the connection breaks, a request that may be carried out twice without harm is sent again; of another one that the
/// server may have seen, its client is told that the outcome is not known.
final class ForwardedRequest: PeerCallReceiver, StreamProducer {
    private enum Stage {
        /// The request waits until it can be sent.
        case waiting
        /// The request was sent, and has no answer yet.
        case sent
        /// An answer of known length arrives.
        case answering
        /// The answer is a stream.
        case streaming(DetachedStream)
        /// The client has its answer, or has disconnected.
        case done
    }

    let ticket: Ticket
    private unowned let desk: ForwardingDesk
    private var handler: TimerHandler { desk.handler }
    private var stage = Stage.waiting
    private var call: PeerCall?
    private var parked: ParkedAnswer?
    /// The instant at which the request began to wait, in monotonic nanoseconds; nil while it does not wait.
    private var waitingSince: Int64?
    /// The bytes of the body, which count while the request waits.
    private let bytes: Int
    /// Whether the request was sent before, and a server may have seen it.
    private var isRepeat = false
    /// The bytes of the stream that are not reported as consumed to the other server yet, as the
    /// client has not taken them.
    private var unread = 0
    /// The format of the stream's events; nil for an export.
    private var format: StreamFormat?
    /// Whether the stream may have changed its timer, and has shown nothing yet.
    private var owesEvent = false
    /// Whether the stream has shown whole events only so far.
    private var isWhole = true
    private var lastByte: UInt8 = 0
    /// The instant since which the stream is to end as soon as it owes neither an event nor the rest of one, in monotonic
    /// nanoseconds.
    private var drainedSince: Int64?

    /// The nanoseconds that a request waits for a server that answers.
    private static let longestWait: Int64 = 5_000_000_000
    /// The nanoseconds after which an answer that may take long is parked, since the library polls for each answer that is not.
    private static let longestUnparked: Int64 = 500_000_000
    /// Bytes that are reserved for an answer before its content comes.
    private static let reservedBytes = 16 * 1024
    /// Most bytes that an answer to HEAD is said to have.
    private static let mostHeadBytes = 16 << 20
    /// The bytes that a client may leave unread before the other server is made to wait.
    private static let mostBuffered = 64 * 1024
    /// The nanoseconds that a stopping server waits for the first event of a stream, or the rest of an event.
    private static let longestDrain: Int64 = 1_000_000_000

    init(_ ticket: Ticket, _ desk: ForwardingDesk) {
        self.ticket = ticket
        self.desk = desk
        bytes = ticket.exchange.body.count
    }

    private var exchange: Exchange { ticket.exchange }

    /// Whether the request is done.
    private var isDone: Bool { if case .done = stage { true } else { false } }

    // MARK: Sending

    /// Sends the request if the server that answers is known; otherwise the request waits.
    func send() {
        guard case .waiting = stage else { return }
        guard desk.knowsOwner else { return wait() }
        // A client that has closed its side may have given up, and may have sent the request elsewhere under the same
        // idempotency key, so a waiting request that changes something is refused. `clientHasEnded` asks the kernel,
        // so it is checked only before sending: thousands may wait, and each is examined many times a second.
        if waitingSince != nil, parked == nil, !isRead, exchange.clientHasEnded {
            desk.forwarding.count(.refused)
            return refuse(.elsewhere(owner: handler.owner))
        }
        if let call = desk.call(self) {
            self.call = call
            stage = .sent
        } else {
            wait()
        }
    }

    private func wait() {
        stage = .waiting
        call = nil
        if waitingSince == nil {
            guard desk.forwarding.waits.take(bytes) else {
                return refuse(.tooManyWaiting)
            }
            waitingSince = Clocks.monotonic()
        }
        desk.waitForOwner(self)
    }

    /// Tries again, unless the request has waited too long, or this server answers by now.
    func retry(now: Int64) {
        guard case .waiting = stage, let since = waitingSince else { return }
        if isAbandoned { return clientGone() }
        if handler.answersItself(ticket) && parked == nil {
            end()
            return handler.answerLocally(ticket)
        }
        guard now - since < Self.longestWait else {
            let owner = handler.owner
            let isLost = isRepeat && !isRead
            desk.forwarding.count(isLost ? .unknown : .refused)
            return refuse(isLost ? .ownerUnreachable(owner: owner) : .elsewhere(owner: owner))
        }
        send()
    }

    private var isRead: Bool { exchange.method == .get || exchange.method == .head }

    private func stopWaiting() {
        guard waitingSince != nil else { return }
        waitingSince = nil
        desk.forwarding.waits.giveBack(bytes)
    }

    // MARK: The answer

    func headCame(_ call: PeerCall) {
        guard case .sent = stage else { return call.cancel() }
        let isRefused = call.status == 401 && !names(TimerHandler.clientUnauthorized, call)
        if call.status == 421 || isRefused {
            // The other server does not answer for the timer, not yet or no longer, or it does not know this one.
            if isRefused { desk.forwarding.tokenWasRefused() }
            call.cancel()
            return again()
        }
        ticket.isJudgedByOwner = true
        guard call.hasLength else { return beginStream(call) }
        stage = .answering
        let length = call.headers.first("content-length").flatMap { Int($0.text) } ?? 0
        fillHead(call)
        guard !exchange.reserveAnswer(length), isRead else {
            exchange.response.body.reserveCapacity(min(length, Self.reservedBytes))
            return
        }
        call.cancel()
        refuse(.tooManyAnswers)
    }

    func contentCame(_ call: PeerCall, _ bytes: Span<UInt8>) {
        switch stage {
        case .answering:
            exchange.response.body.append(copying: bytes)
            call.consume(bytes.count)
        case .streaming(let stream):
            stream.send(StreamChunk([UInt8](copying: bytes)))
            if bytes.count > 0 { noteEnd(of: bytes) }
            if let format { stream.filler = isWhole ? format.filler : nil }
            unread += bytes.count
            owesEvent = false
            if stream.bufferedBytes <= Self.mostBuffered { streamWritable() }
            if drainedSince != nil { drain() }
        case .waiting, .sent, .done: call.consume(bytes.count)
        }
    }

    /// Takes note whether an event ends with `bytes`: at an empty line, or in NDJSON at any line end.
    private func noteEnd(of bytes: Span<UInt8>) {
        let newline = UInt8(ascii: "\n")
        let before = bytes.count > 1 ? bytes[bytes.count - 2] : lastByte
        lastByte = bytes[bytes.count - 1]
        isWhole = lastByte == newline && (format != .sse || before == newline)
    }

    func ended(_ call: PeerCall) {
        switch stage {
        case .answering:
            // An earlier sending of the same request may still be under way.
            if isRepeat, names("idempotency-in-progress", call) { return again() }
            desk.forwarding.count(.answered)
            if exchange.method == .head, let length = call.headers.first("content-length").flatMap({ Int($0.text) }) {
                // The library counts the bytes that it does not send.
                exchange.response.body = [UInt8](repeating: 0, count: min(length, Self.mostHeadBytes))
            }
            answer()
        case .streaming(let stream):
            end()
            stream.finish()
        case .waiting, .sent, .done: break
        }
    }

    private func again() {
        desk.forwarding.count(.repeated)
        wait()
    }

    func failed(_ call: PeerCall, isUnprocessed: Bool) {
        switch stage {
        case .sent, .answering:
            if !isUnprocessed { isRepeat = true }
            if isUnprocessed || ticket.isRepeatable { return again() }
            desk.forwarding.count(.unknown)
            refuse(.ownerUnreachable(owner: handler.owner))
        case .streaming(let stream):
            // The client sees that something is missing, and goes on after what it has.
            end()
            stream.abort()
        case .waiting, .done: break
        }
    }

    /// Whether the answer is this problem.
    private func names(_ problem: StaticString, _ call: PeerCall) -> Bool {
        call.headers.first(Self.problemHeader)?.equals(problem) ?? false
    }

    /// The header line by which another server names a problem to this one.
    private static let problemHeader: StaticString = "timerd-problem"

    private func fillHead(_ call: PeerCall) {
        exchange.response.reset()
        exchange.response.status = call.status
        for index in 0..<call.headers.count {
            let name = call.headers.name(at: index)
            if name.equals("content-length") || name.equals(Self.problemHeader) { continue }
            exchange.response.add(relayed: name, call.headers.value(at: index))
        }
    }

    private func beginStream(_ call: PeerCall) {
        // The credential may have ended while the other server was asked.
        guard handler.stillTakes(ticket) else { return refuseClient(call) }
        guard let answer = ticket.answer.take() else {
            call.cancel()
            return end()
        }
        desk.forwarding.count(.answered)
        fillHead(call)
        handler.note(ticket)
        if exchange.method == .head {
            call.cancel()
            end()
            return answer.sendHead(isStream: !ticket.isLongPoll)
        }
        switch answer.detach() {
        case .stream(let stream):
            stopWaiting()
            owesEvent = ticket.maySubscribe
            stage = .streaming(stream)
            stream.producer = self
            if !ticket.isExport {
                let isSSE = call.headers.first("content-type")?.equals("text/event-stream") ?? false
                format = isSSE ? .sse : .ndjson
                stream.filler = format?.filler
            }
            // The drain may have begun while the other server was asked.
            if exchange.serverIsDraining { drain() }
        case .refused(let answer, let reason):
            call.cancel()
            end()
            handler.refuseStream(answer, reason, ticket)
        }
    }

    private func answer() {
        end()
        if let parked {
            parked.response = exchange.response
            handler.note(ticket)
            return parked.send()
        }
        guard let answer = ticket.answer.take() else { return }
        handler.note(ticket)
        answer.send()
    }

    private func refuse(_ problem: Problem) {
        handler.fill(problem, ticket)
        answer()
    }

    private func end() {
        stopWaiting()
        stage = .done
        call = nil
        desk.forget(self)
    }

    // MARK: The client

    /// Whether the client has disconnected before its answer.
    private var isAbandoned: Bool {
        if let parked { return parked.isClosed }
        return ticket.answer?.isOrphaned ?? true
    }

    /// Parks an answer that may take long, and ends a request whose client has disconnected or whose drain takes too long, and one that
    /// would hold a drain up. Called about once a second.
    func tick(now: Int64) {
        switch stage {
        case .sent, .answering:
            // A client of a stream or a long poll may have ended its side only: its kernel says whether it has gone, by a
            // reset, once the answer has begun.
            let mayHaveGone = parked == nil && !ticket.isStream && exchange.clientHasEnded
            guard !isAbandoned, !mayHaveGone else { return clientGone() }
            // A request that came after the drain began would hold the stop up as well.
            if exchange.serverIsDraining { return endUnanswered() }
            if ticket.mayTakeLong, parked == nil, now - exchange.startedAt > Self.longestUnparked { park() }
        case .streaming:
            if let drainedSince, now - drainedSince > Self.longestDrain { endStream() }
        case .waiting: if exchange.serverIsDraining { endUnanswered() }
        case .done: break
        }
    }

    private func park() {
        guard let answer = ticket.answer.take() else { return }
        switch answer.park() {
        case .parked(let parked):
            parked.producer = self
            self.parked = parked
        case .refused(let answer, _): ticket.answer = consume answer
        }
    }

    /// Reports the bytes that the client has taken, so that the other server sends more of the stream.
    func streamWritable() {
        call?.consume(unread)
        unread = 0
    }

    func streamClosed() { clientGone() }

    /// The client has gone.
    private func clientGone() {
        guard !isDone else { return }
        switch stage {
        case .sent, .answering: handler.noteAbandoned(ticket)
        case .waiting where isRepeat: handler.noteAbandoned(ticket)
        case .waiting, .streaming, .done: break
        }
        let call = call
        end()
        call?.cancel()
    }

    /// Ends the stream or the long poll, as the server stops soon. A stream shows the rest of an event first, and one that
    /// may have started its timer shows that. A history goes on, until the stop cuts it: it would look complete.
    func drain() {
        endUnanswered()
        guard !handler.isHistory(ticket) else { return }
        guard !ticket.isExport, owesEvent || !isWhole else { return endStream() }
        if drainedSince == nil { drainedSince = Clocks.monotonic() }
    }

    /// Ends the request, as the credential of its client has ended. One that may change something is finished.
    func endUnauthorized() {
        switch stage {
        case .streaming: endStream()
        case .waiting where ticket.isStream, .sent where ticket.isLongPoll: refuseClient(call)
        case .waiting, .sent, .answering, .done: break
        }
    }

    private func refuseClient(_ call: PeerCall?) {
        handler.fillUnauthorized(ticket)
        answer()
        call?.cancel()
    }

    /// Ends the stream; without its last chunk where it is an export, or the rest of an event has not come.
    private func endStream() {
        guard case .streaming(let stream) = stage else { return }
        let isComplete = isWhole && !ticket.isExport && !handler.isHistory(ticket)
        clientGone()
        if isComplete { stream.finish() } else { stream.abort() }
    }

    /// Ends a long poll that has no answer yet, and refuses a stream that nobody has been asked for.
    private func endUnanswered() {
        switch stage {
        case .sent where ticket.isLongPoll: break
        case .waiting where ticket.isStream && !(isRepeat && ticket.maySubscribe): break
        default: return
        }
        let call = call
        handler.fillStop(ticket)
        answer()
        call?.cancel()
    }
}
