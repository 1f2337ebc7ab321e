/// An answer that may be minutes away. Until it is sent it costs the server a socket and nothing else. Confined to
/// its loop.
public final class ParkedAnswer {
    /// The answer; fill it before it is sent.
    public var response = Response()
    /// An object of the handler's; released when the answer is sent or the client has disconnected.
    public var producer: (any StreamProducer)?
    private let sink: any StreamSink
    private let isHead: Bool

    init(_ sink: any StreamSink, isHead: Bool) {
        self.sink = sink
        self.isHead = isHead
    }

    /// Sends `response`, and closes the connection after it. Does nothing when the client has disconnected or the
    /// answer was sent already.
    public func send() {
        guard sink.isOpen else { return }
        producer = nil
        sink.owner = .none
        sink.send(response, isHead: isHead)
        response = Response()
    }

    /// Closes the connection without an answer. A server that has forwarded the request sends it again.
    public func abort() {
        producer = nil
        sink.owner = .none
        sink.close()
    }

    /// Whether the answer was sent or the client has disconnected.
    public var isClosed: Bool { !sink.isOpen }
}

/// The outcome of `Answer.park`.
public enum ParkResult: ~Copyable {
    /// The answer to give later.
    case parked(ParkedAnswer)
    /// Nothing was parked: the answer is still to be sent.
    case refused(Answer, DetachRefusal)
}
