/// Hears of the answer to a request that was sent to another server. On the loop's thread.
package protocol PeerCallReceiver: AnyObject {
    /// The answer's head has come.
    func headCame(_ call: PeerCall)
    /// Content has come: `PeerCall.consume` has to be told once it is done with.
    func contentCame(_ call: PeerCall, _ bytes: Span<UInt8>)
    /// The answer is complete. Nothing follows.
    func ended(_ call: PeerCall)
    /// No answer comes any more, or its rest does not. Nothing follows.
    ///
    /// - Parameter isUnseen: whether the server surely has not looked at the request.
    func failed(_ call: PeerCall, isUnseen: Bool)
}
