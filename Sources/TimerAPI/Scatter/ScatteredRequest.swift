import HTTPServer
import Platform
import Primitives

/// A request about the timers of several servers: each is sent a part, and the answers become one.
///
/// `Scatter` decides what is sent when, and what comes of it; `Gathering` what the parts hold and how they are joined.
final class ScatteredRequest: PeerCallReceiver, DelegatedRequest {
    /// A part under way.
    private struct Sent {
        let part: Scatter.Part
        let call: PeerCall
        var body: [UInt8] = []
    }

    let ticket: Ticket
    private unowned let handler: TimerHandler
    private let gathering: any Gathering
    private var state: Scatter
    private let changes: Bool
    private var sent: [ObjectIdentifier: Sent] = [:]
    /// The answer of the first part that was refused.
    private var refusal: PartAnswer?
    /// When it began to wait for servers that answer, on the monotonic clock in nanoseconds; nil while it does not.
    private var waitingSince: Int64?
    /// Whether the handler is to try again soon.
    private var isListed = false
    /// Bytes of its body that are counted while it waits, and bytes of parts that have come.
    private let bytes: Int
    private var received = 0
    private var isDone = false

    /// - Parameters:
    ///   - changes: whether the request may change anything.
    ///   - home: the partition of its idempotency key.
    init(_ ticket: Ticket, _ handler: TimerHandler, _ gathering: any Gathering, changes: Bool, home: Int?) {
        self.ticket = ticket
        self.handler = handler
        self.gathering = gathering
        self.changes = changes
        bytes = ticket.exchange.body.count
        state = Scatter(
            gathering.scope, handler.layout, changes: changes, isRepeatable: ticket.isRepeatable, home: home)
    }

    // MARK: Sending

    /// Sends the parts whose turn it is; those without a known owner wait.
    func go() {
        // Parts on connections that lead nowhere any more fail at that.
        handler.followRoutes()
        guard !isDone else { return }
        for part in state.take(owner: handler.owner(of:)) {
            let content = gathering.content(for: part.scope)
            if let call = handler.call(part, of: ticket, content, gathering.contentType, to: self) {
                sent[ObjectIdentifier(call)] = Sent(part: part, call: call)
            } else {
                state.returned(part.number)
            }
        }
        advance()
    }

    private func advance() {
        switch state.verdict {
        case .done: finish()
        case .refused: relay()
        case .ownerless: refuse(.elsewhere(owner: nil))
        case .unknown: refuse(.standsInPart)
        case .open where state.waits: wait()
        case .open: stopWaiting()
        }
    }

    private func wait() {
        if waitingSince == nil {
            guard handler.context.ownerWaits.take(bytes) else {
                state.expired()
                return advance()
            }
            waitingSince = Clocks.monotonic()
        }
        guard !isListed else { return }
        isListed = true
        handler.waitForOwner(self)
    }

    private func stopWaiting() {
        guard waitingSince != nil else { return }
        waitingSince = nil
        handler.context.ownerWaits.giveBack(bytes)
    }

    func retry(now: Int64) {
        isListed = false
        guard !isDone, let since = waitingSince else { return }
        // Nothing is begun behind the back of a client that has given up.
        if isAbandoned || ticket.exchange.clientHasEnded { return cancel() }
        guard now - since < ForwardedRequest.longestWait else {
            state.expired()
            return advance()
        }
        go()
    }

    // MARK: Answers

    func headCame(_ call: PeerCall) {
        guard call.status == 421, let part = sent.removeValue(forKey: ObjectIdentifier(call))?.part else { return }
        call.cancel()
        state.returned(part.number)
        advance()
    }

    func contentCame(_ call: PeerCall, _ bytes: Span<UInt8>) {
        call.consume(bytes.count)
        guard sent[ObjectIdentifier(call)] != nil else { return }
        sent[ObjectIdentifier(call)]?.body.append(copying: bytes)
        received += bytes.count
        guard !ticket.exchange.reserveAnswer(received), !changes else { return }
        refuse(.tooManyAnswers)
    }

    func ended(_ call: PeerCall) {
        guard let sent = sent.removeValue(forKey: ObjectIdentifier(call)) else { return }
        let answer = PartAnswer(status: call.status, headers: call.headers, body: sent.body)
        let number = sent.part.number
        if answer.status == 200 && gathering.add(answer, for: sent.part.scope) {
            state.succeeded(number)
            // Others may have waited for this part. What was returned waits for the next try.
            return isListed ? advance() : go()
        }
        if sent.part.isRepeat && answer.isInProgress {
            state.returned(number)
        } else {
            if refusal == nil { refusal = answer }
            state.refused(number, isUnknown: answer.isUnknown || answer.status == 200)
        }
        advance()
    }

    func failed(_ call: PeerCall, isUnseen: Bool) {
        guard let sent = sent.removeValue(forKey: ObjectIdentifier(call)) else { return }
        state.lost(sent.part.number, isUnseen: isUnseen)
        advance()
    }

    // MARK: The end

    private func finish() {
        end()
        gathering.conclude(ticket, handler)
    }

    private func relay() {
        guard let refusal else { return refuse(.standsInPart) }
        end()
        ticket.isRendered = true
        ticket.exchange.response.reset()
        ticket.exchange.response.status = refusal.status
        for index in 0..<refusal.headers.count where !refusal.headers.name(at: index).equals("content-length") {
            ticket.exchange.response.add(relayed: refusal.headers.name(at: index), refusal.headers.value(at: index))
        }
        ticket.exchange.response.body = refusal.body
        handler.send(ticket)
    }

    private func refuse(_ problem: Problem) {
        cancel()
        ticket.outcome = .problem(problem)
        handler.respond(ticket)
    }

    private func end() {
        stopWaiting()
        isDone = true
        handler.forget(self)
    }

    /// Gives up: nothing more is heard of the parts under way.
    private func cancel() {
        end()
        let left = sent
        sent = [:]
        for entry in left.values { entry.call.cancel() }
    }

    // MARK: The client

    private var isAbandoned: Bool { ticket.answer?.isOrphaned ?? true }

    func tick(now: Int64) {
        if !isDone && (isAbandoned || ticket.exchange.clientHasEnded) { cancel() }
    }

    func drain() {}
}
