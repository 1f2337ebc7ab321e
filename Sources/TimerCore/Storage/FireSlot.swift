/// What the table keeps of a timer that has fired, beside its slot: see the members of `TimerProgress`.
struct FireSlot: BitwiseCopyable {
    var lastFiredAt: Int64 = 0
    var fireCount: Int64 = 0
    var missedCount: Int64 = 0
    var firesSinceActivation: Int64 = 0
}
