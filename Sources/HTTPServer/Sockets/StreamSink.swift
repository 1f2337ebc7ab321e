/// The destination of the bytes of a stream, or of a parked answer: a socket, or a stream of a peer's connection.
package protocol StreamSink: AnyObject {
    var loop: LoopCore { get }
    /// The stream or parked answer that writes to the sink, and is notified of its end.
    var owner: SinkOwner { get set }
    /// The number of bytes that are not handed on yet.
    var bufferedBytes: Int { get }
    /// Whether the owner may still write: it has not finished, and the sink is not closed.
    var isOpen: Bool { get }
    /// The address of the reader; nil for a Unix socket's.
    var peer: SocketAddress? { get }

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
