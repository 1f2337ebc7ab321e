/// An answer without a known end: each piece is sent to the client at once. Confined to its loop.
public final class DetachedStream {
    /// An object of the handler's; released when the stream is closed.
    public var producer: (any StreamProducer)?
    /// Bytes that mean nothing to the reader at this point of the stream; nil where there are none. They are sent
    /// when the client has ended its side of the connection, to learn whether it still reads.
    public var filler: StreamChunk?
    private let sink: any StreamSink
    private let isChunked: Bool

    private static let lastChunk = Array("0\r\n\r\n".utf8)

    init(_ sink: any StreamSink, isChunked: Bool) {
        self.sink = sink
        self.isChunked = isChunked
    }

    /// Sends `chunk`, and buffers the bytes that the kernel does not take. Does nothing on a closed or finished
    /// stream.
    ///
    /// A sender whose stream has over `ServerLimits.streamBufferBytes` of `bufferedBytes` should wait for
    /// `LoopHandler.streamWritable`. A stream that buffers eight times as much is closed.
    public func send(_ chunk: StreamChunk) {
        sink.write(chunk.framed, isChunked ? 0..<chunk.framed.count : chunk.content)
    }

    /// Sends the filler, unless other bytes are on their way.
    func sendFiller() {
        if bufferedBytes == 0, let filler { send(filler) }
    }

    /// Bytes not yet handed to the kernel.
    public var bufferedBytes: Int { sink.bufferedBytes }

    /// Whether nothing can be sent any more.
    public var isClosed: Bool { !sink.isOpen }

    /// Whether the client is unreachable: the kernel sends again and again, and has had no acknowledgement for
    /// `milliseconds`. A client that merely does not read still answers the kernel's probes.
    public func isUnacknowledged(milliseconds: Int64) -> Bool { sink.isUnacknowledged(milliseconds: milliseconds) }

    /// Sends the buffered bytes and the last chunk, and ends the stream. `LoopHandler.streamClosed` follows.
    public func finish() {
        if isChunked { sink.write(Self.lastChunk) }
        sink.finish()
    }

    /// Closes the stream without a last chunk, so that the client sees that something is missing.
    /// `LoopHandler.streamClosed` follows.
    public func abort() {
        sink.close()
    }

    /// `127.0.0.1:5000`, `[::1]:5000` or `unix`.
    public var peerAddress: String { sink.peer?.description ?? "unix" }
}
