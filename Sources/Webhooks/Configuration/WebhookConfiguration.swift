/// The receiver of a timer's events, and how they are delivered. Which events are delivered is the timer's setting.
public struct WebhookConfiguration: Sendable, Equatable {
    /// The most headers a webhook may set.
    public static let maximumHeaders = 20
    /// The most secrets a webhook may have, for rotation.
    public static let maximumSecrets = 5
    /// The default time for an attempt: 15 s.
    public static let defaultTimeoutMs: Int64 = 15_000
    /// The range of the time for an attempt, in milliseconds. With less every attempt would fail; with more the
    /// timer's next delivery would be held up for long.
    public static let timeouts: ClosedRange<Int64> = 100...600_000

    /// An absolute http or https URL.
    public var url: String
    /// The HTTP method of a delivery.
    public var method: WebhookMethod
    /// Headers that are sent beside those of the format, in this order.
    public var headers: [WebhookHeader]
    /// The format of a delivery's body.
    public var format: WebhookFormat
    /// Names of headers whose values are secret, beside those that always are. Headers of these names need not be set.
    public var secretHeaders: [String] = []
    /// The secrets, each of which signs every delivery; where there are none, the server's own do, if it has any.
    public var secrets: [WebhookSecret]
    /// Milliseconds for a whole attempt, from resolving the name to the end of the answer.
    public var timeoutMs: Int64
    /// The policy of when a failed delivery is tried again.
    public var retry: RetryPolicy

    /// Makes a configuration with defaults; not checked, see ``validate()``.
    public init(
        url: String, method: WebhookMethod = .post, headers: [WebhookHeader] = [], format: WebhookFormat = .standard,
        secrets: [WebhookSecret] = [], timeoutMs: Int64 = WebhookConfiguration.defaultTimeoutMs,
        retry: RetryPolicy = .standard
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.format = format
        self.secrets = secrets
        self.timeoutMs = timeoutMs
        self.retry = retry
    }

    /// Whether a request's body is the event, or holds it.
    public var showsEvent: Bool { method.sendsBody && format != .payload }

    /// Whether a request's body is the payload.
    public var showsPayload: Bool { method.sendsBody && format == .payload }

    /// Whether a request's headers have the event's data, since its body doesn't.
    public var showsData: Bool { !showsEvent }

    /// Whether deliveries go to the same scheme, host and port as by `other`; false where one of the URLs is invalid.
    ///
    /// A mask must not carry a webhook's secret over to another origin.
    public func sameOrigin(as other: WebhookConfiguration) -> Bool {
        guard let own = try? WebhookURL(url), let others = try? WebhookURL(other.url) else { return false }
        return own.sameOrigin(as: others)
    }

    /// Whether deliveries are sent alike by `other`: the order of headers does not count, that of secrets does.
    public func isSame(as other: WebhookConfiguration) -> Bool {
        var (left, right) = (self, other)
        left.sortHeaders()
        right.sortHeaders()
        return left == right
    }

    private mutating func sortHeaders() {
        headers.sort { ($0.name, $0.value) < ($1.name, $1.value) }
        secretHeaders.sort()
    }

    /// Whether the value of the header `name` is secret: it is never shown, and is not kept when the URL's origin
    /// changes.
    public func isSecret(_ name: String) -> Bool {
        HeaderRules.isCredential(name) || secretHeaders.contains { HeaderRules.isSame($0, name) }
    }

    /// Returns the header `name`; where several differ by case alone, the one in this spelling.
    public func header(_ name: String) -> WebhookHeader? {
        headers.first { $0.name == name } ?? headers.first { HeaderRules.isSame($0.name, name) }
    }

    /// Throws the first error in the configuration.
    ///
    /// - Parameter isGiven: whether a client gives the configuration now. One in the log was accepted under earlier
    ///   rules and must stay readable.
    public func validate(isGiven: Bool = true) throws(WebhookError) {
        _ = try WebhookURL(url)
        guard headers.count <= Self.maximumHeaders else {
            throw WebhookError(
                member: "headers",
                message: "a webhook sets at most \(Self.maximumHeaders) headers, not \(headers.count)")
        }
        for header in headers { try HeaderRules.validate(header, isGiven: isGiven) }
        guard secretHeaders.count <= Self.maximumHeaders else {
            throw WebhookError(
                member: "secretHeaders", message: "`secretHeaders` names at most \(Self.maximumHeaders) headers")
        }
        for (index, name) in secretHeaders.enumerated() {
            try HeaderRules.validate(name: name, member: "secretHeaders/\(index)")
        }
        guard secrets.count <= Self.maximumSecrets else {
            throw WebhookError(
                member: "secret", message: "a webhook has at most \(Self.maximumSecrets) secrets, not \(secrets.count)")
        }
        guard Self.timeouts.contains(timeoutMs) else {
            throw WebhookError(member: "timeout", message: "`timeout` must be 100 ms to 10 min")
        }
        try retry.validate()
    }
}

/// The HTTP method of a delivery.
public enum WebhookMethod: UInt8, Sendable, CaseIterable {
    case post = 0
    case put = 1
    case patch = 2
    case get = 3
    case delete = 4

    /// The method's name in HTTP.
    public var name: StaticString {
        switch self {
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .get: "GET"
        case .delete: "DELETE"
        }
    }

    /// Whether a request has a body. A GET has none: servers and proxies drop or refuse it (RFC 9110 section 9.3.1).
    public var sendsBody: Bool { self != .get }
}

/// The content of a delivery's body.
public enum WebhookFormat: UInt8, Sendable, CaseIterable {
    /// The event.
    case standard = 0
    /// The event within a CloudEvents 1.0 envelope.
    case cloudevents = 1
    /// The timer's payload alone.
    case payload = 2

    /// The name in JSON.
    public var name: StaticString {
        switch self {
        case .standard: "standard"
        case .cloudevents: "cloudevents"
        case .payload: "payload"
        }
    }
}
