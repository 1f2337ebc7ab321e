/// The outcome of `Answer.park`.
public enum ParkResult: ~Copyable {
    /// The answer to give later.
    case parked(ParkedAnswer)
    /// Nothing was parked: the answer is still to be sent.
    case refused(Answer, DetachRefusal)
}
