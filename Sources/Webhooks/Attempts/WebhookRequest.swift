/// The request of an attempt.
public struct WebhookRequest: Sendable, Equatable {
    /// The method.
    public var method: WebhookMethod
    /// The URL that the request goes to.
    public var url: String
    /// The header lines, without Host and Content-Length.
    public var headers: [WebhookHeader]
    /// The body; nil where the method sends none.
    public var body: [UInt8]?
    /// Milliseconds for the whole attempt.
    public var timeoutMs: Int64
}
