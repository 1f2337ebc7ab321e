/// The duty to answer one request, exactly once. Confined to the exchange's loop.
///
/// An answer may be kept for later, best in an object that is the exchange's `context`, which allocates nothing.
/// Until the answer is sent the library polls for it in every run, so keep one for milliseconds only, and `park`
/// an answer that takes longer. An answer that is dropped without being sent is a 500.
public struct Answer: ~Copyable {
    /// Request and response.
    public let exchange: Exchange
    private let serial: UInt64

    init(_ exchange: Exchange, serial: UInt64) {
        self.exchange = exchange
        self.serial = serial
    }

    deinit {
        guard exchange.owes(serial) else { return }
        exchange.loop.noteForgottenAnswer()
        exchange.response.reset()
        exchange.loop.handler.renderRefusal(.internalError, into: exchange)
        exchange.sendResponse()
    }

    /// Whether the client has disconnected; an answer that is sent after that is dropped.
    public var isOrphaned: Bool { !exchange.owes(serial) }

    /// Sends `exchange.response`.
    public consuming func send() {
        if exchange.owes(serial) { exchange.sendResponse() }
    }

    /// Turns the connection into a stream that begins with the head in `exchange.response` (its body is not sent).
    ///
    /// - Parameter goesOn: whether another server has forwarded the request of a stream that began elsewhere: it is taken
    ///   however many streams there are.
    public consuming func detach(goesOn: Bool = false) -> DetachResult {
        guard exchange.owes(serial) else { return .refused(renewed(), .clientGone) }
        guard exchange.method == .get else { return .refused(renewed(), .notGet) }
        guard let sink = exchange.takeSink(goesOn: goesOn) else { return .refused(renewed(), .limitReached) }
        let isChunked = exchange.isHTTP11 && !exchange.isFromPeer
        let stream = DetachedStream(sink, isChunked: isChunked)
        sink.owner = .stream(stream)
        sink.begin(exchange.response, isChunked: isChunked)
        return .stream(stream)
    }

    /// Answers HEAD: sends the head that a stream or a parked answer would begin with, and nothing else. The head
    /// gives no length, as that is not known beforehand.
    ///
    /// - Parameter isStream: whether the head is a stream's.
    public consuming func sendHead(isStream: Bool) {
        guard exchange.owes(serial) else { return }
        if let channel = exchange.channel { return exchange.answerHead(by: channel) }
        guard let socket = exchange.takeSocket() else {
            // No descriptor is left: the library sends the same header lines, with a length.
            return exchange.sendResponse()
        }
        let framing: ResponseHead.Framing = isStream && exchange.isHTTP11 ? .chunked : .untilClose
        socket.write(ResponseHead(exchange.response, framing: framing, date: exchange.loop.date()).bytes)
        socket.finish()
    }

    /// Puts the answer off for as long as it takes. The connection is closed after it.
    ///
    /// - Parameter goesOn: as for `detach`.
    public consuming func park(goesOn: Bool = false) -> ParkResult {
        guard exchange.owes(serial) else { return .refused(renewed(), .clientGone) }
        guard let sink = exchange.takeSink(goesOn: goesOn) else { return .refused(renewed(), .limitReached) }
        let parked = ParkedAnswer(sink, isHead: exchange.method == .head)
        sink.owner = .parked(parked)
        return .parked(parked)
    }

    /// The duty in a new token; the end of this one then answers nothing.
    private func renewed() -> Answer {
        Answer(exchange, serial: exchange.owes(serial) ? exchange.renewSerial() : serial)
    }
}
