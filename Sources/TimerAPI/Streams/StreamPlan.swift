import TimerCore

/// The choices of a request for events, and the positions between which its stream runs.
struct StreamPlan {
    var filter = StreamFilter()
    var format = StreamFormat.ndjson
    /// The id to go on from: the one that the client named, or the beginning if it named none and
    /// the stream does not stay open.
    var since: EventID?
    /// Whether the stream stays open once everything has been sent.
    var follows = true
    /// The most events to send.
    var limit = Int.max
    /// The milliseconds after which a long poll ends without an event; nil for a stream.
    var timeout: Int64?
    /// Whether the stream counts as a subscriber for `start: subscriber` and `stop: subscriber`.
    var isSubscription = false

    /// The position from which the stream begins: everything up to here counts as examined.
    var cursor = StreamCursor(0)
    /// The position at which the stream ends, once it has examined everything up to there; nil for no end.
    var end: Int64?
    /// The position of the newest event of the timer.
    var newestOfTimer: Int64 = 0
    /// Whether the timer is deleted: the stream shows its history, as far as that is kept, and ends.
    var isOfDeleted = false
    /// Whether the stream is opened only if it has an event to show; otherwise its answer is 204, at which an
    /// `EventSource` stops reconnecting.
    var needsEvent = false
    /// The timer's own events, which the stream reads from the store first: positions of some of them, at most
    /// `Replayer.History.stride` events apart, the newest included.
    var history: ArraySlice<Int64> = []
    /// The position of the timer's creation, if events of an earlier timer with its id may lie before it: the stream
    /// looks for those row by row.
    var lifeBegan: Int64 = 0
    /// Whether the timer may run again after it ended.
    var isRestartable = false
    /// The id of the newest record when the request was decided, which the `Event-Id` header shows.
    var head = EventID.beginning
    /// Whether the timer waits for a subscriber. The stream subscribes in a step of its own once it is admitted.
    var mustSubscribe = false
    /// Whether the stream is admitted: the request has passed every check.
    var isAdmitted = false
    /// The position of the newest event that the subscription caused, by activating or resuming the timer.
    var subscribedAt: Int64?
}
