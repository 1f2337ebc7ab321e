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
