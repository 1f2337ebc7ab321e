/// An answer that may be minutes away. It costs the server a socket and nothing else. Confined to its loop.
public final class ParkedAnswer {
    /// The answer; fill it before it is sent.
    public var response = Response()
    /// The maker of the answer; released when the answer is sent or the client has gone.
    public var producer: (any StreamProducer)?
    private let sink: any StreamSink
    private let isHead: Bool

    init(_ sink: any StreamSink, isHead: Bool) {
        self.sink = sink
        self.isHead = isHead
    }

    /// Sends `response` and closes the connection after it. Without effect when the client has gone or the answer was
    /// sent.
    public func send() {
        guard sink.isOpen else { return }
        producer = nil
        sink.owner = .none
        sink.send(response, isHead: isHead)
        response = Response()
    }

    /// True when the answer was sent or the client has gone.
    public var isClosed: Bool { !sink.isOpen }

    /// `127.0.0.1:5000`, `[::1]:5000` or `unix`.
    public var peerAddress: String { sink.peer?.description ?? "unix" }
}
