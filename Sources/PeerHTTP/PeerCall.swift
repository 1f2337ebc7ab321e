package import HTTPServer

/// A request under way to another server. Confined to its loop.
package final class PeerCall {
    /// The answer's status code; 0 until its head has come.
    package internal(set) var status = 0
    /// The answer's header lines.
    package internal(set) var headers = RequestHeaders()
    /// Whether the head gives the answer's length: such an answer is no stream, and soon complete.
    package var hasLength: Bool { headers.first("content-length") != nil || status == 204 || status == 304 }

    /// The receiver of what comes further; nil once nothing does.
    package weak var receiver: (any PeerCallReceiver)?
    var number: Int32 = 0
    private weak var link: PeerLink?
    /// Whether the whole answer has come.
    var isComplete = false

    init(_ receiver: any PeerCallReceiver, on link: PeerLink) {
        self.receiver = receiver
        self.link = link
    }

    /// Cancels the call. The receiver gets no further reports.
    package func cancel() {
        receiver = nil
        link?.cancel(self)
    }

    /// Reports to the server that `count` bytes of the answer are processed, so that it may send as many more.
    package func consume(_ count: Int) { link?.consume(self, count) }
}

/// The receiver of the answer to a request that was sent to another server. Called on the loop's thread.
package protocol PeerCallReceiver: AnyObject {
    /// An interim response has come ahead of the answer, with the header lines in `call`.
    func interimCame(_ call: PeerCall)
    /// The answer's head has come.
    func headCame(_ call: PeerCall)
    /// Content has come. The receiver calls `PeerCall.consume` once it has processed the content.
    func contentCame(_ call: PeerCall, _ bytes: Span<UInt8>)
    /// The answer is complete. Nothing follows.
    func ended(_ call: PeerCall)
    /// The answer, or the rest of it, does not come any more. Nothing follows.
    ///
    /// - Parameter isUnprocessed: whether the server has certainly not looked at the request.
    func failed(_ call: PeerCall, isUnprocessed: Bool)
}
