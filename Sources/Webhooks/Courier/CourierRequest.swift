import Primitives
public import TimerCore

/// An HTTP request that the courier is to make.
public struct CourierRequest: Sendable {
    /// The caller's number for the request; the result has the same.
    public var serial: UInt64
    /// The method in upper case; not `HEAD`.
    public var method: String
    /// The URL: absolute, `http` or `https`, without user name and fragment.
    public var url: String
    /// Header lines to send. Only `Host`, `Content-Length` and `Accept: */*` are added to them.
    public var headers: [(name: String, value: String)]
    /// The body; nil for none, and then methods other than GET say `Content-Length: 0`.
    public var body: [UInt8]?
    /// Milliseconds for the whole request, from resolving the name to the end of the answer.
    public var timeoutMs: Int

    /// Makes a request; see the members.
    public init(
        serial: UInt64, method: String, url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, timeoutMs: Int
    ) {
        self.serial = serial
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMs = timeoutMs
    }

    /// The reason why the request can't be sent as it is, in one line; nil where it can. A line end in its parts
    /// could inject header lines.
    var fault: String? {
        guard HTTPToken.isToken(method) else { return "the method is no word of HTTP" }
        // libcurl would wait for the body that such an answer does not have.
        guard method != "HEAD" else { return "HEAD can't be sent" }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return "the URL has a space or a control character"
        }
        for header in headers {
            guard HTTPToken.isToken(header.name) else {
                return "a header's name is no word of HTTP"
            }
            guard HeaderRules.isValue(header.value) else {
                return "the header \(header.name) has a control character"
            }
        }
        return nil
    }
}

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

/// The result of one request.
public struct CourierResult: Sendable, Equatable {
    /// The request's number.
    public var serial: UInt64
    /// The answer's status code; 0 where there was none.
    ///
    /// A 2xx counts once the whole answer came, of which bytes beyond `CourierLimits.bodyLimit` are cut off; any other
    /// status counts once the head came.
    public var status: Int
    /// The value of the answer's first `Retry-After`; at most its first 256 bytes.
    public var retryAfter: [UInt8]?
    /// The value of the answer's first `Timer-Command`; at most its first 256 bytes.
    public var timerCommand: [UInt8]?
    /// The reason why there was no answer; nil for an answer.
    ///
    /// A request that can't be sent as it is counts as `malformed`; one that was not sent or was aborted for
    /// another reason, such as a stop, as `interrupted`.
    public var failure: DeliveryFailure?
    /// The failure in one line, for a person to read; nil for an answer.
    public var error: String?
    /// The instant at which the request began, on the monotonic clock, in nanoseconds; equal to `endedAt` where it
    /// never did.
    public var startedAt: Int64
    /// The instant at which the request ended, on the same clock.
    public var endedAt: Int64

    /// Makes a result; see the members.
    public init(
        serial: UInt64, status: Int = 0, retryAfter: [UInt8]? = nil, timerCommand: [UInt8]? = nil,
        failure: DeliveryFailure? = nil, error: String? = nil, startedAt: Int64, endedAt: Int64
    ) {
        self.serial = serial
        self.status = status
        self.retryAfter = retryAfter
        self.timerCommand = timerCommand
        self.failure = failure
        self.error = error
        self.startedAt = startedAt
        self.endedAt = endedAt
    }
}
