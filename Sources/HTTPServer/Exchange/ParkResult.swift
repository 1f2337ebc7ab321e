/// What became of `Answer.park`.
public enum ParkResult: ~Copyable {
    /// The answer to give later.
    case parked(ParkedAnswer)
    /// The answer is still to be given, in the ordinary way.
    case refused(Answer, DetachRefusal)
}
