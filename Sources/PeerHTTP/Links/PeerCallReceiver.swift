/// The receiver of the answer to a request that was sent to another server. Called on the loop's thread.
package protocol PeerCallReceiver: AnyObject {
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
