/// The receiver of a connection's events, called from within `HTTP2Session.receive` and `send`. A stream is named
/// by its number.
protocol HTTP2Events: AnyObject {
    /// A head begins: of a request at a server, of an answer at a client.
    func headBegan(_ stream: Int32)
    /// A field of the head that has begun. Pseudo fields begin with a colon; names are in small letters.
    func fieldCame(_ stream: Int32, name: Span<UInt8>, value: Span<UInt8>)
    /// The head is complete.
    func headEnded(_ stream: Int32)
    /// Content came. Its sender may send as much again once `HTTP2Session.consume` was called.
    func contentCame(_ stream: Int32, _ bytes: Span<UInt8>)
    /// The peer has sent everything.
    func contentEnded(_ stream: Int32)
    /// Everything that was written is sent, and more may be written.
    func contentSent(_ stream: Int32)
    /// The stream is over: after both sides have sent everything, or because one has aborted it.
    ///
    /// - Parameter isRefused: whether the peer reports that it has not looked at the request (RFC 9113,
    ///   REFUSED_STREAM).
    func streamClosed(_ stream: Int32, isRefused: Bool)
    /// The peer takes no further streams, and has not looked at those with higher numbers than `last`.
    func goAwayCame(last: Int32)
}
