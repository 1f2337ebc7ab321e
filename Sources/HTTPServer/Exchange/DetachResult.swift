/// What became of `Answer.detach`.
public enum DetachResult: ~Copyable {
    /// The stream; its head is on the way.
    case stream(DetachedStream)
    /// The answer is still to be given, in the ordinary way.
    case refused(Answer, DetachRefusal)
}
