/// An answer that may be minutes away. It costs the server a socket and nothing else. Confined to its loop.
public final class ParkedAnswer {
    /// The answer; fill it before it is sent.
    public var response = Response()
    /// For the handler's use; released when the answer is sent or the client has gone.
    public var context: AnyObject?
    private let socket: DetachedSocket
    private let isHead: Bool

    init(_ socket: DetachedSocket, isHead: Bool) {
        self.socket = socket
        self.isHead = isHead
    }

    /// Sends `response` and closes the connection after it. Without effect when the client has gone or the answer was
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

    /// True when the answer was sent or the client has gone.
    public var isClosed: Bool { !socket.isOpen }

    /// `127.0.0.1:5000`, `[::1]:5000` or `unix`.
    public var peerAddress: String { socket.peer?.description ?? "unix" }
}
