public import TimerCore
import Webhooks
public import WireJSON

/// A timer's webhook as JSON, its secrets masked.
public enum WebhookJSON {
    /// How much of what a webhook proves itself by is shown.
    public enum Secrets: Sendable {
        /// Everything.
        case shown
        /// Everything but secrets and the values of secret headers, which are masked.
        case masked
        /// The origin of the URL, and the names of headers.
        case hidden
    }

    /// The text shown in place of the value of a header that carries credentials.
    static let headerMask = "***"
    /// The text shown in place of what comes after the origin of a URL.
    private static let pathMask = "/***"

    /// Writes the member `webhook` with that of the encoded `definition`, an object with every member; `null` if it
    /// has no webhook.
    ///
    /// - Parameters:
    ///   - isStopped: whether its receiver stopped it, by answering 410.
    ///   - secrets: how much of it is shown.
    public static func write(
        _ definition: Span<UInt8>, _ layout: Definition.Layout, isStopped: Bool, secrets: Secrets = .masked,
        _ json: inout JSONWriter
    ) {
        json.key("webhook")
        guard let webhook = configuration(definition, layout) else { return json.null() }
        json.beginObject()
        json.member("url", text: secrets == .hidden ? masked(webhook.url) : webhook.url)
        json.member("method", webhook.method.name)
        json.beginObject("headers")
        for header in webhook.headers {
            json.key(bytes: Array(header.name.utf8))
            let isShown = secrets == .shown || secrets == .masked && !webhook.isSecret(header.name)
            json.string(isShown ? header.value : headerMask)
        }
        json.endObject()
        if !webhook.secretHeaders.isEmpty {
            json.beginArray("secretHeaders")
            for name in webhook.secretHeaders { json.string(name) }
            json.endArray()
        }
        json.member("format", webhook.format.name)
        json.key("secret")
        write(webhook.secrets.map { secrets == .shown ? $0.text : $0.masked }, &json)
        json.member("timeout", duration: webhook.timeoutMs)
        json.beginArray("types")
        for type in EventType.allCases where layout.rules.deliveries.contains(type) { json.string(type.name) }
        json.endArray()
        json.key("retry")
        write(webhook.retry, &json)
        if isStopped { json.member("stopped", true) }
        json.endObject()
    }

    /// Returns a URL as those see it who may see its origin only.
    static func masked(_ url: String) -> String { WebhookURL.origin(of: url) + pathMask }

    private static func write(_ secrets: [String], _ json: inout JSONWriter) {
        switch secrets.count {
        case 0: json.null()
        case 1: json.string(secrets[0])
        default:
            json.beginArray()
            for secret in secrets { json.string(secret) }
            json.endArray()
        }
    }

    private static func write(_ retry: RetryPolicy, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("maxAttempts", Int64(retry.maxAttempts))
        json.member("maxAge", duration: retry.maxAgeMs)
        json.beginArray("giveUpOn")
        for entry in retry.giveUpOn.entries {
            switch entry {
            case .status(let status): json.integer(Int64(status))
            case .clientErrors: json.string(FinalStatuses.clientErrorsText)
            }
        }
        json.endArray()
        json.member("initial", duration: retry.initialMs)
        json.key("multiplier")
        json.number(retry.multiplier)
        json.member("max", duration: retry.maxMs)
        json.key("jitter")
        json.number(retry.jitter)
        json.endObject()
    }

    /// Returns the webhook of the encoded `definition`; nil if it has none.
    static func configuration(_ definition: Span<UInt8>, _ layout: Definition.Layout) -> WebhookConfiguration? {
        layout.webhook.flatMap { WebhookConfiguration(definition.extracting($0)) }
    }
}
