/// A request as it goes out.
public struct WebhookRequest: Sendable, Equatable {
    /// The method.
    public var method: WebhookMethod
    /// Where to.
    public var url: String
    /// The header lines, but for Host and Content-Length.
    public var headers: [WebhookHeader]
    /// The body; nil where the method sends none.
    public var body: [UInt8]?
    /// Milliseconds for the whole exchange.
    public var timeoutMs: Int64
}
