import Primitives
public import TimerCore
import WireJSON

/// Makes the request of an attempt.
///
/// | format | body | Content-Type |
/// |---|---|---|
/// | `standard` | the event | `application/json` |
/// | `cloudevents` | a CloudEvents 1.0 envelope with the event as `data` | `application/cloudevents+json` |
/// | `payload` | the payload, or `null` | `application/json` |
///
/// Each carries `webhook-id` and `webhook-timestamp`, and where there is a secret `webhook-signature`, after Standard
/// Webhooks 1.0. The event's data are in `timerd-*` headers where the body doesn't have them: with `payload`, and with
/// GET, which sends no body and no Content-Type and is signed as if its body were empty. DELETE has a body.
public struct WebhookRequestBuilder {
    /// The prefix of the types of CloudEvents.
    public static let cloudEventPrefix = "timerd.timer."

    private let userAgent: String
    private let defaultSecrets: [WebhookSecret]
    private let keys: SigningKeys

    /// - Parameters:
    ///   - version: the server's version, for `User-Agent: timerd/<version>`.
    ///   - defaultSecrets: these sign the deliveries of webhooks that have no secrets of their own.
    ///   - keys: the keys of secrets that have signed before.
    public init(version: String, defaultSecrets: [WebhookSecret] = [], keys: SigningKeys = SigningKeys()) {
        userAgent = "timerd/\(version)"
        self.defaultSecrets = defaultSecrets
        self.keys = keys
    }

    /// Returns the request of an attempt at `timestamp`, seconds since 1970, with the webhook's present configuration.
    ///
    /// The webhook's own headers come last; a `User-Agent` among them replaces the server's.
    public func request(_ event: WebhookEvent, by webhook: WebhookConfiguration, timestamp: Int64) -> WebhookRequest {
        let body = webhook.method.sendsBody ? Self.body(event, webhook.format) : nil
        var headers: [WebhookHeader] = []
        if !webhook.headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
            headers.append(WebhookHeader("User-Agent", userAgent))
        }
        if body != nil { headers.append(WebhookHeader("Content-Type", Self.contentType(webhook.format))) }
        headers.append(WebhookHeader("webhook-id", event.id))
        headers.append(WebhookHeader("webhook-timestamp", String(timestamp)))
        let secrets = webhook.secrets.isEmpty ? defaultSecrets : webhook.secrets
        if !secrets.isEmpty {
            let signature = WebhookSignature.header(
                id: event.id, timestamp: timestamp, body: body ?? [], secrets: secrets, keys: keys)
            headers.append(WebhookHeader("webhook-signature", signature))
        }
        if webhook.showsData { headers += Self.dataHeaders(event) }
        if let trace = event.trace {
            headers += Self.headers(of: trace)
            // A timer of an earlier version may set these headers itself.
            headers += webhook.headers.filter { !HeaderRules.isAboutTraces($0.name) }
        } else {
            headers += webhook.headers
        }
        return WebhookRequest(
            method: webhook.method, url: webhook.url, headers: headers, body: body, timeoutMs: webhook.timeoutMs)
    }

    private static func headers(of trace: TraceContext) -> [WebhookHeader] {
        let parent = WebhookHeader("traceparent", trace.parent)
        if trace.state.isEmpty { return [parent] }
        return [parent, WebhookHeader("tracestate", String(decoding: trace.state, as: UTF8.self))]
    }

    private static func contentType(_ format: WebhookFormat) -> String {
        switch format {
        case .standard, .payload: "application/json"
        case .cloudevents: "application/cloudevents+json"
        }
    }

    private static func body(_ event: WebhookEvent, _ format: WebhookFormat) -> [UInt8] {
        switch format {
        case .standard: event.json
        case .payload: event.payload ?? Array("null".utf8)
        case .cloudevents: envelope(event)
        }
    }

    /// Returns a CloudEvents 1.0 envelope in its structured JSON form.
    private static func envelope(_ event: WebhookEvent) -> [UInt8] {
        return JSONWriter.object { json in
            json.member("specversion", "1.0")
            json.member("id", text: event.id)
            json.member("source", text: event.source)
            json.member("type", text: cloudEventPrefix + event.type)
            json.member("subject", text: event.subject)
            json.member("time", instant: event.timeMs)
            json.member("datacontenttype", "application/json")
            json.key("data")
            json.raw(event.json)
        }
    }

    /// Returns `timerd-event` with the type, then a header for each of the event's data.
    private static func dataHeaders(_ event: WebhookEvent) -> [WebhookHeader] {
        [WebhookHeader("timerd-event", headerValue(event.type))]
            + event.data.map { WebhookHeader("timerd-" + headerName($0.name), headerValue($0.value)) }
    }

    /// Turns a member's name into a header's: `scheduledAt` into `scheduled-at`, and a character that no name may
    /// hold into `-`.
    static func headerName(_ member: String) -> String {
        var name = ""
        for byte in member.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if !name.isEmpty { name += "-" }
                name.unicodeScalars.append(UnicodeScalar(byte | 0x20))
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.unicodeScalars.append(UnicodeScalar(byte))
            default: name += "-"
            }
        }
        return name
    }

    /// Encodes `value` for a header: control characters, bytes that are not ASCII, blanks at either end, and `%`
    /// itself are percent-encoded, so that a receiver that decodes gets the same text.
    static func headerValue(_ value: String) -> String {
        let bytes = Array(value.utf8)
        var index = 0
        return Hexadecimal.percentEncoded(bytes) { byte in
            let isEnd = index == 0 || index == bytes.count - 1
            index += 1
            return byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "%") || byte == 0x20 && !isEnd
        }
    }
}

/// An event on its way to a receiver: the parts of a delivery that are the same for every attempt.
public struct WebhookEvent: Sendable {
    /// The delivery's id, the same for every attempt: `webhook-id`. Printable ASCII without a dot.
    public var id: String
    /// The event's type, such as `fired`.
    public var type: String
    /// The whole event as JSON; anything where `WebhookConfiguration.showsEvent` is false.
    public var json: [UInt8]
    /// The timer's payload as JSON; nil for none, which goes out as `null`. Anything where
    /// `WebhookConfiguration.showsPayload` is false.
    public var payload: [UInt8]?
    /// The event's data for headers, a name and a text each: `("scheduledAt", "2026-11-21T09:00:00.000Z")`. Anything where
    /// `WebhookConfiguration.showsData` is false.
    public var data: [(name: String, value: String)]
    /// The `source` of CloudEvents, a URI reference: `/timerd`.
    public var source: String
    /// The `subject` of CloudEvents: the timer's id.
    public var subject: String
    /// The instant of the event, in milliseconds since 1970.
    public var timeMs: Int64
    /// The trace that the request belongs to, with the attempt as its span: the receiver's spans are below that one.
    /// Nil for none.
    public var trace: TraceContext?

    /// Makes an event; the members say what each part is.
    public init(
        id: String, type: String, json: [UInt8], payload: [UInt8]?, data: [(name: String, value: String)],
        source: String, subject: String, timeMs: Int64, trace: TraceContext? = nil
    ) {
        self.id = id
        self.type = type
        self.json = json
        self.payload = payload
        self.data = data
        self.source = source
        self.subject = subject
        self.timeMs = timeMs
        self.trace = trace
    }
}

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
