/// The part of a timer's progress that is kept beside its slot once it has fired: see the members of `TimerProgress`.
struct FireSlot: BitwiseCopyable {
    var lastFiredAt: Int64 = 0
    var fireCount: Int64 = 0
    var missedCount: Int64 = 0
    var firesSinceActivation: Int64 = 0
}
