import TimerCore

/// What a request for events asks for, and where its stream begins.
struct StreamPlan {
    var filter = StreamFilter()
    var format = StreamFormat.ndjson
    /// The id to go on from, if the client named one.
    var since: EventID?
    /// Whether the stream stays open once everything has been sent.
    var follows = true
    /// Most events to send.
    var limit = Int.max
    /// For a long poll: milliseconds until it gives up.
    var timeout: Int64?
    /// Whether the stream counts as a subscriber for `start: subscriber` and `stop: subscriber`.
    var isSubscription = false

    /// Where the stream begins: everything up to here counts as examined.
    var cursor = StreamCursor(0)
    /// The stream ends once it has examined everything up to this position; nil for no end.
    var end: Int64?
    /// Position of the newest event of the timer.
    var newestOfTimer: Int64 = 0
    /// Whether the timer is deleted: the stream shows its history, as far as that is kept, and ends.
    var isOfDeleted = false
    /// Whether the stream is opened only if it has an event to show; otherwise its answer is 204, at which an `EventSource`
    /// stops reconnecting.
    var needsEvent = false
    /// The timer's own events, which the stream reads from the store first: positions of some of them, at most
    /// `Replayer.History.stride` events apart, the newest included.
    var history: ArraySlice<Int64> = []
    /// Position of the timer's creation, if events of an earlier timer with its id may lie before it: the stream looks for
    /// those row by row.
    var lifeBegan: Int64 = 0
    /// Whether the timer may run again after it ended.
    var isRestartable = false
    /// Id of the newest record when the request was decided on: what the `Event-Id` header shows.
    var head = EventID.beginning
    /// Whether its timer waits for a subscriber. The timer is told of this one once the stream is admitted.
    var mustSubscribe = false
    /// Whether the stream is admitted: it has passed every check.
    var isAdmitted = false
    /// Position of the newest event that the subscription caused, by activating or resuming the timer.
    var subscribedAt: Int64?
}
