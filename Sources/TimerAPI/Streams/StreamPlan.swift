import TimerCore

/// What a request for events asks for, checked, and where it begins.
struct StreamPlan {
    var filter = StreamFilter()
    var format = StreamFormat.ndjson
    /// The id to go on from, if the client named one.
    var since: EventID?
    /// Whether to stay once everything has been sent.
    var follows = true
    /// Most events to send.
    var limit = Int.max
    /// For a long poll: milliseconds until it gives up.
    var timeout: Int64?
    /// Whether it is the kind of request that `start: subscriber` and `stop: subscriber` count.
    var isSubscription = false

    /// Everything up to here counts as examined at the start.
    var cursor = StreamCursor(0)
    /// Ends once everything up to here has been examined.
    var end: Int64?
    /// Position of the newest event of the timer.
    var newestOfTimer: Int64 = 0
    /// Whether the timer is gone: its history is all there is, as long as that is kept.
    var isOfDeleted = false
    /// The timer's own events to begin with, from the store: positions of some of them, at most
    /// `Replayer.History.stride` apart, the newest included.
    var history: ArraySlice<Int64> = []
    /// Position of the timer's creation, where events of an earlier timer of its id may come before: those are looked for
    /// row by row.
    var lifeBegan: Int64 = 0
    /// Whether the timer may run again once it ended.
    var isRestartable = false
    /// Id of the newest record at the decision: what the `Event-Id` header shows.
    var head = EventID.beginning
    /// Whether its timer waits for a subscriber: it is told of this one once nothing speaks against the stream.
    var mustSubscribe = false
    /// Whether nothing speaks against the stream any more.
    var isAdmitted = false
    /// Position of the newest event that it brought about: its timer was activated or resumed.
    var subscribedAt: Int64?
}
