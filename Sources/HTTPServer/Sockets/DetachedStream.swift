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
    /// `StreamProducer.streamWritable`. A stream that buffers eight times as much is closed.
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

    /// Sends the buffered bytes and the last chunk, and ends the stream. `StreamProducer.streamClosed` follows.
    public func finish() {
        if isChunked { sink.write(Self.lastChunk) }
        sink.finish()
    }

    /// Closes the stream without a last chunk, so that the client sees that something is missing.
    /// `StreamProducer.streamClosed` follows.
    public func abort() {
        sink.close()
    }
}

/// Bytes for the streams of one loop, framed once for all of them.
public struct StreamChunk: Sendable {
    /// The bytes as a chunk of a chunked body.
    let framed: [UInt8]
    /// The range of the bytes themselves in `framed`.
    let content: Range<Int>

    /// Frames `content`, which is not empty.
    public init(_ content: some Collection<UInt8>) {
        let size = String(content.count, radix: 16)
        var framed: [UInt8] = []
        framed.reserveCapacity(content.count + size.utf8.count + 4)
        framed.append(contentsOf: size.utf8)
        framed.append(contentsOf: [13, 10])
        let start = framed.count
        framed.append(contentsOf: content)
        self.content = start..<framed.count
        framed.append(contentsOf: [13, 10])
        self.framed = framed
    }

    /// The bytes themselves.
    public var bytes: ArraySlice<UInt8> { framed[content] }
}

/// The maker of a detached stream's bytes, or of a parked answer. Every function runs on the loop's thread.
public protocol StreamProducer: AnyObject {
    /// The stream's buffer is empty again. Never called for a parked answer.
    func streamWritable()

    /// The stream has ended: its client has gone, it failed, or it was finished. Called exactly once for each stream.
    ///
    /// For a parked answer: its client went before the answer was sent; a client that only sends nothing more is still there.
    /// Called once at most, and not after `ParkedAnswer.send`.
    func streamClosed()
}

/// The outcome of `Answer.detach`.
public enum DetachResult: ~Copyable {
    /// The stream; its head is being sent.
    case stream(DetachedStream)
    /// Nothing was detached: the answer is still to be sent.
    case refused(Answer, DetachRefusal)
}

/// Why an answer was not detached or parked.
public enum DetachRefusal: Sendable, Equatable {
    /// Only GET may become a stream; HEAD has no content.
    case notGet
    /// `ServerLimits.streams` is reached, or no descriptor is left.
    case limitReached
    /// The client has disconnected.
    case clientGone
}

/// The destination of the bytes of a stream, or of a parked answer: a socket, or a stream of a peer's connection.
package protocol StreamSink: AnyObject {
    var loop: LoopCore { get }
    /// The stream or parked answer that writes to the sink, and is notified of its end.
    var owner: SinkOwner { get set }
    /// The number of bytes that are not handed on yet.
    var bufferedBytes: Int { get }
    /// Whether the owner may still write: it has not finished, and the sink is not closed.
    var isOpen: Bool { get }

    /// Begins an answer without a known length.
    func begin(_ response: Response, isChunked: Bool)
    /// Writes the bytes in `range`, and buffers those that are not taken.
    func write(_ bytes: [UInt8], _ range: Range<Int>)
    /// Writes an answer with its length, and ends.
    func send(_ response: Response, isHead: Bool)
    /// Writes the buffered bytes, and ends.
    func finish()
    /// Ends at once, so that the reader sees that something is missing.
    func close()
    /// Whether the reader has acknowledged nothing for `milliseconds`, though bytes are sent again and again.
    func isUnacknowledged(milliseconds: Int64) -> Bool
}

/// An object that writes to a sink, and is notified of its end.
package enum SinkOwner {
    case none
    case stream(DetachedStream)
    case parked(ParkedAnswer)
}

extension StreamSink {
    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8]) { write(bytes, 0..<bytes.count) }
}
