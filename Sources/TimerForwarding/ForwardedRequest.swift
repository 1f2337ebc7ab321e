import HTTPServer
import PeerHTTP
import Platform
import Primitives
import TimerAPI

/// A request that another server answers. It waits until the server is known, is sent there, and its
/// answer is passed on.
///
/// Where the connection breaks, a request that may be carried out twice without harm is sent again; of another one that the
/// server may have seen, its client is told that the outcome is not known. A long poll that has begun waits on, with whatever
/// server owns the log, until its time is over. A stream becomes a `RelayedStream`.
final class ForwardedRequest: PeerCallReceiver, StreamProducer {
    private enum Stage {
        /// The request waits until it can be sent.
        case waiting
        /// The request was sent, and has no answer yet.
        case sent
        /// An answer of known length arrives.
        case answering
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
    /// Whether the request is one of those whose number is bounded. A long poll that has begun has its place among the streams.
    private var isCounted = false
    /// Whether the request was sent before, and a server may have seen it.
    private var isRepeat = false

    /// The nanoseconds that a request waits for a server that answers.
    private static let longestWait: Int64 = 5_000_000_000
    /// The nanoseconds after which an answer that may take long is parked, since the library polls for each answer that is not.
    private static let longestUnparked: Int64 = 500_000_000
    /// Bytes that are reserved for an answer before its content comes.
    private static let reservedBytes = 16 * 1024
    /// Most bytes that an answer to HEAD is said to have.
    private static let mostHeadBytes = 16 << 20

    /// - Parameter parked: the answer of a long poll that has begun; nil for a new request.
    init(_ ticket: Ticket, _ desk: ForwardingDesk, _ parked: ParkedAnswer? = nil) {
        self.ticket = ticket
        self.desk = desk
        self.parked = parked
        bytes = ticket.exchange.body.count
        parked?.producer = self
    }

    private var exchange: Exchange { ticket.exchange }

    /// Whether the request is a long poll that has begun.
    var hasBegun: Bool { ticket.rest != nil }

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
            return refuseForNow()
        }
        if let call = desk.call(ticket, to: self) {
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
            if !hasBegun {
                guard desk.forwarding.waits.take(bytes) else { return refuse(.tooManyWaiting) }
                isCounted = true
            }
            waitingSince = Clocks.monotonic()
        }
        desk.waitForOwner(self)
    }

    /// Tries again, unless the request has waited too long, or this server answers by now.
    func retry(now: Int64) {
        guard case .waiting = stage, let since = waitingSince else { return }
        if isAbandoned { return clientGone() }
        if handler.answersItself(ticket), parked == nil || hasBegun {
            end()
            parked?.producer = nil
            ticket.opened = parked.map { .poll($0) }
            return handler.answerLocally(ticket)
        }
        if let rest = ticket.rest, let deadline = rest.deadline {
            guard now < deadline else { return answerNothing(after: rest) }
            return send()
        }
        guard now - since < Self.longestWait else {
            return refuseForNow()
        }
        send()
    }

    private var isRead: Bool { exchange.method == .get || exchange.method == .head }

    private func stopWaiting() {
        waitingSince = nil
        guard isCounted else { return }
        isCounted = false
        desk.forwarding.waits.giveBack(bytes)
    }

    // MARK: The answer

    /// Takes note of where a long poll begins, so that another owner of the log can go on with it.
    func interimCame(_ call: PeerCall) {
        guard case .sent = stage, ticket.isLongPoll, !hasBegun else { return }
        handler.noteBegin(ticket, call.headers)
    }

    /// Answers a long poll whose time is over.
    private func answerNothing(after rest: StreamRest) {
        ticket.fillNothing(after: rest.examined)
        answer()
    }

    func headCame(_ call: PeerCall) {
        guard case .sent = stage else { return call.cancel() }
        // The other server does not answer for the timer, not yet or no longer, or it does not know this one; a long poll that
        // has begun waits for one that goes on with it.
        let isUnfit = call.status == 421 || call.status >= 500 && hasBegun
        if isUnfit || call.status == 401 && !desk.isOfClient(call) {
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
        case .waiting, .sent, .done: call.consume(bytes.count)
        }
    }

    func ended(_ call: PeerCall) {
        switch stage {
        case .answering:
            // An earlier sending of the same request may still be under way.
            if isRepeat, names("idempotency-in-progress", call) { return again() }
            // A refusal that says that nothing stands speaks of this sending alone.
            if ticket.mayBeStored, call.status == 503 {
                return refuseForNow()
            }
            desk.forwarding.count(.answered)
            if !exchange.sendsContent, let length = call.headers.first("content-length").flatMap({ Int($0.text) }) {
                // The library counts the bytes that it does not send.
                exchange.response.body = [UInt8](repeating: 0, count: min(length, Self.mostHeadBytes))
            }
            answer()
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
            if !isUnprocessed {
                isRepeat = true
                ticket.mayBeStored = !isRead
            }
            if isUnprocessed || ticket.isRepeatable { return again() }
            refuseForNow()
        case .waiting, .done: break
        }
    }

    /// Whether the answer is this problem.
    private func names(_ problem: StaticString, _ call: PeerCall) -> Bool { desk.names(problem, call) }

    private func fillHead(_ call: PeerCall) {
        exchange.response.reset()
        exchange.response.status = call.status
        for index in 0..<call.headers.count {
            let name = call.headers.name(at: index)
            if name.equals("content-length") || ForwardingDesk.isForServers(name) { continue }
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
            end()
            let isSSE = call.headers.first("content-type")?.equals("text/event-stream") ?? false
            if !ticket.isExport { handler.noteBegin(ticket, call.headers) }
            let relay = desk.relay(ticket, stream, call, ticket.isExport ? nil : isSSE ? .sse : .ndjson)
            // The drain may have begun while the other server was asked.
            if exchange.serverIsDraining { relay.drain() }
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

    /// Refuses a request that no server has taken, unless one that was asked before has done so.
    private func refuseForNow() {
        desk.forwarding.count(ticket.mayBeStored ? .unknown : .refused)
        refuse(.elsewhere(owner: handler.owner))
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

    /// Does nothing: an answer that is parked comes whole.
    func streamWritable() {}

    func streamClosed() { clientGone() }

    /// The client has gone.
    private func clientGone() {
        guard !isDone else { return }
        switch stage {
        case .sent, .answering: handler.noteAbandoned(ticket)
        case .waiting where isRepeat: handler.noteAbandoned(ticket)
        case .waiting, .done: break
        }
        let call = call
        end()
        call?.cancel()
    }

    /// Ends the request of a stream, or the long poll, as the server stops soon.
    func drain() { endUnanswered() }

    /// Ends the request, as the credential of its client has ended. One that may change something is finished.
    func endUnauthorized() {
        switch stage {
        case .waiting where ticket.isStream, .sent where ticket.isLongPoll: refuseClient(call)
        case .waiting, .sent, .answering, .done: break
        }
    }

    private func refuseClient(_ call: PeerCall?) {
        handler.fillUnauthorized(ticket)
        answer()
        call?.cancel()
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
