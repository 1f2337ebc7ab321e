/// Why the server refuses a request by itself, without its handler.
public enum Refusal: Error, Sendable, Equatable {
    /// The request breaks HTTP's rules; the text names the fault.
    case badRequest(String)
    /// The target is longer than `ServerLimits.targetBytes`.
    case targetTooLong
    /// The head has more bytes or lines than the limits allow.
    case headersTooLarge
    /// The body is longer than the handler takes.
    case bodyTooLarge(limit: Int)
    /// The bodies under way hold as much memory as they may.
    case overloaded
    /// The request asks for something that this server lacks, such as a transfer coding; the text names it.
    case notImplemented(String)
    /// `Expect` names something other than `100-continue`.
    case expectationFailed
    /// The request was forwarded by another server, and was over `PeerLimits.longestTransitMs` longer on its way
    /// than the quickest one.
    case late
    /// The handler forgot to answer.
    case internalError

    /// The answer's status code.
    public var status: Int {
        switch self {
        case .badRequest: 400
        case .targetTooLong: 414
        case .headersTooLarge: 431
        case .bodyTooLarge: 413
        case .overloaded: 503
        case .notImplemented: 501
        case .expectationFailed: 417
        case .late: 421
        case .internalError: 500
        }
    }
}
