/// A request and its deadline.
struct TimedRequest {
    var request: CourierRequest
    /// The instant at which the request began, on the monotonic clock.
    var startedAt: Int64
    /// The instant at which the request's time is over, on the same clock.
    var deadline: Int64

    init(_ request: CourierRequest, now: Int64) {
        self.request = request
        startedAt = now
        // libcurl takes 0 for no limit.
        deadline = now + Int64(max(1, request.timeoutMs)) * 1_000_000
    }
}
