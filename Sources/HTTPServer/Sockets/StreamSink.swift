/// Where the bytes of a stream, or of a parked answer, go: a socket, or a stream of a peer's connection.
package protocol StreamSink: AnyObject {
    var loop: LoopCore { get }
    /// What writes to it and is told of its end.
    var owner: SinkOwner { get set }
    /// Bytes that are not handed on yet.
    var bufferedBytes: Int { get }
    /// True until its owner has finished or it is closed.
    var isOpen: Bool { get }
    /// Who reads.
    var peer: SocketAddress? { get }

    /// Begins an answer without a known length.
    func begin(_ response: Response, isChunked: Bool)
    /// Writes bytes in `range`; what is not taken is buffered.
    func write(_ bytes: [UInt8], _ range: Range<Int>)
    /// Writes an answer with its length, and ends.
    func send(_ response: Response, isHead: Bool)
    /// Writes what is buffered, and ends.
    func finish()
    /// Ends at once, so that the reader sees that something is missing.
    func close()
    /// Whether the reader has acknowledged nothing for `milliseconds`, though bytes are sent again and again.
    func isUnacknowledged(milliseconds: Int64) -> Bool
}

/// What writes to a sink and is told of its end.
package enum SinkOwner {
    case none
    case stream(DetachedStream)
    case parked(ParkedAnswer)
}

extension StreamSink {
    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8]) { write(bytes, 0..<bytes.count) }
}
