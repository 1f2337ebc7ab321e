import HTTPServer

/// A server's answer to a part of a request.
struct PartAnswer {
    var status = 0
    var headers = RequestHeaders()
    var body: [UInt8] = []

    /// Whether it is a problem that says that changes may stand.
    var isUnknown: Bool { status == 503 && body.firstRange(of: Array(#""outcome":"unknown""#.utf8)) != nil }

    /// Whether it says that an earlier request with the same key is still under way.
    var isInProgress: Bool {
        status == 409 && body.firstRange(of: Array("/problems/idempotency-in-progress".utf8)) != nil
    }

    /// Whether it was told before, to an earlier request with the same key.
    var isReplay: Bool { headers.first("idempotency-replayed") != nil }
}
