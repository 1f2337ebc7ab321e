/// The outcome of `Answer.detach`.
public enum DetachResult: ~Copyable {
    /// The stream; its head is being sent.
    case stream(DetachedStream)
    /// Nothing was detached: the answer is still to be sent.
    case refused(Answer, DetachRefusal)
}
