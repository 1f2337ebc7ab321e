/// A request and its deadline.
struct TimedRequest {
    var request: CourierRequest
    /// When it was begun, on the monotonic clock.
    var startedAt: Int64
    /// When its time is over.
    var deadline: Int64

    init(_ request: CourierRequest, now: Int64) {
        self.request = request
        startedAt = now
        // libcurl takes 0 for no limit.
        deadline = now + Int64(max(1, request.timeoutMs)) * 1_000_000
    }
}
