/// An answer without a set end: what is sent reaches the client at once. Confined to its loop.
public final class DetachedStream {
    /// The handler's own; let go when the stream is closed.
    public var context: AnyObject?
    private let socket: DetachedSocket
    private let isChunked: Bool

    init(_ socket: DetachedSocket, isChunked: Bool) {
        self.socket = socket
        self.isChunked = isChunked
    }

    /// Sends `bytes` as one chunk; what the kernel does not take is buffered. Without effect on a closed or finished
    /// stream.
    ///
    /// Above `ServerLimits.streamBufferBytes` of `bufferedBytes` the sender should wait for
    /// `LoopHandler.streamWritable`. A stream that buffers eight times as much is closed.
    public func send(_ bytes: [UInt8]) {
        isChunked ? socket.writeChunk(bytes) : socket.write(bytes)
    }

    /// Bytes not yet handed to the kernel.
    public var bufferedBytes: Int { socket.bufferedBytes }

    /// True when nothing can be sent any more.
    public var isClosed: Bool { !socket.isOpen }

    /// Sends the rest, the last chunk, and ends. `LoopHandler.streamClosed` follows.
    public func finish() {
        if isChunked { socket.write(Array("0\r\n\r\n".utf8)) }
        socket.finish()
    }

    /// Closes without a last chunk, so that the client sees that something is missing. `LoopHandler.streamClosed`
    /// follows.
    public func abort() {
        socket.close()
    }

    /// `127.0.0.1:5000`, `[::1]:5000` or `unix`.
    public var peerAddress: String { socket.peer?.description ?? "unix" }
}

/// An answer that may be minutes away: it costs the server a socket and nothing else. Confined to its loop.
public final class ParkedAnswer {
    /// The answer, to be filled before it is sent.
    public var response = Response()
    /// The handler's own; let go when the answer is sent or the client has gone.
    public var context: AnyObject?
    private let socket: DetachedSocket
    private let isHead: Bool

    init(_ socket: DetachedSocket, isHead: Bool) {
        self.socket = socket
        self.isHead = isHead
    }

    /// Sends `response` and closes the connection after it. Without effect when the client has gone or an answer was
    /// sent.
    public func send() {
        guard socket.isOpen else { return }
        context = nil
        socket.owner = .none
        socket.write(
            ResponseHead(response, framing: .length(response.body.count), date: socket.loop.date()).bytes)
        if !isHead, !ResponseHead.isBodyless(response.status) { socket.write(response.body) }
        response = Response()
        socket.finish()
    }

    /// True when an answer was sent or the client has gone.
    public var isClosed: Bool { !socket.isOpen }

    /// `127.0.0.1:5000`, `[::1]:5000` or `unix`.
    public var peerAddress: String { socket.peer?.description ?? "unix" }
}
