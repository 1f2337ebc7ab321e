import HTTPServer

/// A handler that answers by the target's path; each route shows one way to answer.
final class TestHandler: LoopHandler {
    /// An exchange's context: where an answer waits without an allocation.
    final class Slot {
        var answer: Answer?
    }

    /// The streams' filler.
    static let filler = Array("~".utf8)

    private let probe: Probe
    private let bodyLimit: Int
    private var waiting: [Slot] = []
    private var gathered: [Slot] = []
    private var streams: [DetachedStream] = []
    private var parked: [ParkedAnswer] = []
    private var isResting = false

    init(_ probe: Probe, bodyLimit: Int) {
        self.probe = probe
        self.bodyLimit = bodyLimit
    }

    private func path(_ exchange: Exchange) -> String { String(decoding: exchange.target, as: UTF8.self) }

    func admit(_ exchange: Exchange) -> Admission {
        if path(exchange) == "/forbidden" {
            exchange.response.status = 403
            exchange.response.body = Array("no".utf8)
            return .refuse
        }
        return .accept(bodyLimit: bodyLimit)
    }

    func handle(_ exchange: Exchange, _ answer: consuming Answer) {
        probe.note("handled")
        switch path(exchange) {
        case "/later": keep(answer, in: &waiting)
        case "/turn": keep(answer, in: &gathered)
        case "/forget": break
        case "/stream", "/flood", "/finish":
            exchange.response.add("Content-Type", "text/plain")
            switch answer.detach() {
            case .refused(let answer, let reason): refuse(answer, "\(reason)")
            case .stream(let stream): began(stream, path(exchange))
            }
        case "/park":
            switch answer.park() {
            case .refused(let answer, let reason): refuse(answer, "\(reason)")
            case .parked(let answer):
                parked.append(answer)
                answer.producer = ParkedProducer(of: answer, self)
                probe.note("parked")
            }
        case "/large":
            exchange.response.body = [UInt8](repeating: 0x61, count: 3_000_000)
            answer.send()
        case "/huge":
            exchange.response.body = [UInt8](repeating: 0x61, count: 40_000_000)
            answer.send()
        case "/empty":
            exchange.response.status = 204
            answer.send()
        case "/peer":
            exchange.response.body = Array(exchange.peerDescription.utf8)
            answer.send()
        case "/headers":
            for index in 0..<exchange.headers.count {
                exchange.response.body += exchange.headers.name(at: index).bytes
                exchange.response.body += Array("=".utf8) + exchange.headers.value(at: index).bytes + Array(";".utf8)
            }
            answer.send()
        default:
            exchange.response.add("X-Target", exchange.target)
            exchange.response.add("X-Authority", exchange.authority?.text ?? "")
            exchange.response.add("X-Draining", "\(exchange.serverIsDraining)")
            exchange.response.add("X-From-Reserve", "\(exchange.isFromReserve)")
            exchange.response.add("X-Method", "\(exchange.method)")
            exchange.response.add("X-Bytes", Array("a\r\nInjected: b".utf8))
            exchange.response.body = exchange.body.isEmpty ? Array("hello".utf8) : exchange.body
            answer.send()
        }
    }

    private func keep(_ answer: consuming Answer, in list: inout [Slot]) {
        let slot = answer.exchange.context as? Slot ?? Slot()
        answer.exchange.context = slot
        slot.answer = consume answer
        list.append(slot)
        probe.note("kept")
    }

    private func refuse(_ answer: consuming Answer, _ reason: String) {
        answer.exchange.response.reset()
        answer.exchange.response.status = 503
        answer.exchange.response.body = Array(reason.utf8)
        answer.send()
    }

    private func began(_ stream: DetachedStream, _ path: String) {
        streams.append(stream)
        stream.producer = Producer(of: stream, self)
        stream.filler = StreamChunk(Self.filler)
        stream.send(StreamChunk("first".utf8))
        if path == "/finish" {
            for _ in 0..<80 { stream.send(StreamChunk([UInt8](repeating: 0x78, count: 100_000))) }
            stream.finish()
        }
        if path == "/flood" { flood(stream) }
        probe.note("streaming")
    }

    /// Sends until 10,000 bytes wait for the client to read.
    private func flood(_ stream: DetachedStream) {
        let chunk = StreamChunk([UInt8](repeating: 0x79, count: 10_000))
        while stream.bufferedBytes < 10_000, !stream.isClosed { stream.send(chunk) }
        probe.note("full")
    }

    private func answerAll(_ list: inout [Slot]) {
        for slot in list {
            guard let answer = slot.answer.take() else { continue }
            if answer.isOrphaned { probe.note("orphaned") }
            answer.exchange.response.body = Array("late".utf8)
            answer.send()
        }
        list = []
    }

    func requestsWereHandled() { answerAll(&gathered) }

    func woken() {
        if isResting { probe.note("woken without a tick") }
        if probe.isOpen("later") { answerAll(&waiting) }
        if probe.isOpen("drop") { waiting = waiting.filter { $0.answer.take() == nil } }
        endWhatIsFinished()
        if probe.isOpen("abort") { for stream in streams { stream.abort() } }
    }

    private func sendParked() {
        for answer in parked {
            answer.response.body = Array("parked".utf8)
            answer.response.add("ETag", "\"v1\"")
            answer.send()
        }
        parked = []
    }

    /// Ends the streams and parked answers that began after their gate was opened.
    func tick(now: Int64) {
        isResting = false
        probe.note("tick")
        endWhatIsFinished()
    }

    /// Rests for an hour.
    func rest(now: Int64) -> Int64 {
        guard probe.isOpen("rest") else { return now }
        probe.note("rest")
        isResting = true
        return now + 3_600_000_000_000
    }

    private func endWhatIsFinished() {
        if probe.isOpen("parked") { sendParked() }
        if probe.isOpen("finish") { for stream in streams { stream.finish() } }
    }

    private final class Producer: StreamProducer {
        private unowned let stream: DetachedStream
        private unowned let handler: TestHandler

        init(of stream: DetachedStream, _ handler: TestHandler) {
            self.stream = stream
            self.handler = handler
        }

        func streamWritable() {
            handler.probe.note("writable")
            if stream.bufferedBytes == 0 { stream.send(StreamChunk("again".utf8)) }
        }

        func streamClosed() {
            handler.streams.removeAll { $0 === stream }
            handler.probe.note("closed")
        }
    }

    private final class ParkedProducer: StreamProducer {
        private unowned let answer: ParkedAnswer
        private unowned let handler: TestHandler

        init(of answer: ParkedAnswer, _ handler: TestHandler) {
            self.answer = answer
            self.handler = handler
        }

        func streamWritable() {}

        func streamClosed() {
            handler.parked.removeAll { $0 === answer }
            handler.probe.note("parkedClosed")
        }
    }

    func drainBegan() {
        probe.note("drain")
        for stream in streams { stream.finish() }
        sendParked()
    }

    func renderRefusal(_ refusal: Refusal, into exchange: Exchange) {
        exchange.response.reset()
        exchange.response.status = refusal.status
        exchange.response.add("Content-Type", "application/problem+json")
        exchange.response.body = Array("{\"status\":\(refusal.status)}".utf8)
    }
}
