import TestSupport
import Testing

@testable import Webhooks

private let url = "https://example.com/hook"

private func webhook(_ change: (inout WebhookConfiguration) -> Void) -> WebhookConfiguration {
    var webhook = WebhookConfiguration(url: url)
    change(&webhook)
    return webhook
}

private func refusal(_ webhook: WebhookConfiguration) -> WebhookError? {
    do throws(WebhookError) {
        try webhook.validate()
        return nil
    } catch {
        return error
    }
}

struct WebhookConfigurationTests {
    @Test func `the defaults are the contract's`() {
        let plain = webhook { _ in }
        #expect(refusal(plain) == nil)
        #expect(plain.method == .post && plain.format == .standard && plain.timeoutMs == 15_000)
        #expect(
            plain.retry == RetryPolicy(maxAttempts: 12, initialMs: 1000, multiplier: 2, maxMs: 3_600_000, jitter: 0.2))
    }

    @Test(arguments: [
        "Host", "content-length", "Content-Type", "CONNECTION", "Keep-Alive", "Proxy-Connection", "proxy-x", "TE",
        "traceparent",
        "TraceState",
        "Trailer", "Transfer-Encoding", "Upgrade", "Webhook-Id", "webhook-anything", "Timerd-Event", "timerd-",
    ])
    func `a webhook may not set what is the server's`(name: String) {
        let error = refusal(webhook { $0.headers = [WebhookHeader("X-Fine", "1"), WebhookHeader(name, "1")] })
        #expect(error == WebhookError(member: "headers/\(name)", message: "a webhook may not set the header `\(name)`"))
    }

    @Test(arguments: [
        "Authorization", "Proxy-Authorization", "User-Agent", "x-timerd-a", "Hosts", "Proxy", "webhook",
        "a!#$%&'*+-.^_`|~9",
    ])
    func `a webhook may set anything else`(name: String) {
        #expect(refusal(webhook { $0.headers = [WebhookHeader(name, "a\tb ü")] }) == nil)
    }

    @Test(arguments: [
        ("", "headers/", "name must be"), ("a b", "headers/a b", "name must be"), ("a:", "headers/a:", "name must be"),
        ("a/~b", "headers/a~1~0b", "name must be"), ("é", "headers/é", "name must be"),
        (String(repeating: "a", count: 257), "headers/" + String(repeating: "a", count: 257), "at most 256"),
    ])
    func `a header's name is a token`(name: String, member: String, reason: String) {
        let error = refusal(webhook { $0.headers = [WebhookHeader(name, "1")] })
        #expect(error?.member == member)
        #expect(error?.message.contains(reason) == true)
    }

    @Test(arguments: ["a\rb", "a\nb", "a\r\nb", "a\u{0}b", "\u{7F}", "\u{1}", String(repeating: "a", count: 1025)])
    func `a header's value stays on its line`(value: String) {
        #expect(refusal(webhook { $0.headers = [WebhookHeader("X-A", value)] })?.member == "headers/X-A")
    }

    @Test(arguments: [
        ("headers", webhook { $0.headers = Array(repeating: WebhookHeader("a", ""), count: 21) }),
        ("url", webhook { $0.url = "https://" }),
        ("secret", webhook { $0.secrets = Array(repeating: WebhookSecret(key: Array(0..<24))!, count: 6) }),
        ("timeout", webhook { $0.timeoutMs = 99 }), ("timeout", webhook { $0.timeoutMs = 600_001 }),
        ("retry/maxAttempts", webhook { $0.retry.maxAttempts = 0 }),
        ("retry/maxAttempts", webhook { $0.retry.maxAttempts = 101 }),
        ("retry/maxAge", webhook { $0.retry.maxAgeMs = 0 }),
        ("retry/maxAge", webhook { $0.retry.maxAgeMs = 36_525 * 86_400_000 + 1 }),
        ("retry/giveUpOn", webhook { $0.retry.giveUpOn = FinalStatuses([.status(204)]) }),
        ("retry/giveUpOn", webhook { $0.retry.giveUpOn = FinalStatuses((500..<533).map { .status($0) }) }),
        ("retry/initial", webhook { $0.retry.initialMs = 0 }),
        ("retry/initial", webhook { $0.retry = RetryPolicy(initialMs: 86_400_001, maxMs: 604_800_000) }),
        ("retry/multiplier", webhook { $0.retry.multiplier = 0.99 }),
        ("retry/multiplier", webhook { $0.retry.multiplier = 10.01 }),
        ("retry/multiplier", webhook { $0.retry.multiplier = .nan }),
        ("retry/max", webhook { $0.retry.maxMs = 999 }), ("retry/max", webhook { $0.retry.maxMs = 604_800_001 }),
        ("retry/jitter", webhook { $0.retry.jitter = -0.01 }), ("retry/jitter", webhook { $0.retry.jitter = 1.01 }),
        ("retry/jitter", webhook { $0.retry.jitter = .infinity }),
    ])
    func `an error names the member`(member: String, webhook: WebhookConfiguration) {
        #expect(refusal(webhook)?.member == member)
    }

    @Test(arguments: [
        webhook { $0.headers = Array(repeating: WebhookHeader("a", String(repeating: "v", count: 1024)), count: 20) },
        webhook { $0.secrets = Array(repeating: WebhookSecret(key: Array(0..<24))!, count: 5) },
        webhook { $0.timeoutMs = 100 }, webhook { $0.timeoutMs = 600_000 },
        webhook { $0.retry = RetryPolicy(maxAttempts: 1, initialMs: 1, multiplier: 1, maxMs: 1, jitter: 0) },
        webhook {
            $0.retry = RetryPolicy(
                maxAttempts: 100, maxAgeMs: 36_525 * 86_400_000,
                giveUpOn: FinalStatuses([.clientErrors] + (500..<531).map { .status($0) }), initialMs: 86_400_000,
                multiplier: 10, maxMs: 604_800_000, jitter: 1)
        },
    ])
    func `the bounds themselves are allowed`(webhook: WebhookConfiguration) {
        #expect(refusal(webhook) == nil)
        #expect(WebhookConfiguration(webhook.encode().span) == webhook)
    }
}

struct WebhookCodecTests {
    static let full = WebhookConfiguration(
        url: url, method: .patch, headers: [WebhookHeader("X-A", "ü"), WebhookHeader("X-Empty", "")],
        format: .cloudevents, secrets: [WebhookSecret(key: Array(0..<24))!, WebhookSecret(key: Array(0..<64))!],
        timeoutMs: 20_000,
        retry: RetryPolicy(maxAttempts: 3, initialMs: 10, multiplier: 1.5, maxMs: 500, jitter: 0.1))

    @Test func `defaults take no bytes`() {
        let bytes = webhook { _ in }.encode()
        #expect(bytes == [0, 0, UInt8(url.utf8.count)] + Array(url.utf8))
        #expect(WebhookConfiguration(bytes.span) == webhook { _ in })
    }

    @Test(arguments: WebhookMethod.allCases, WebhookFormat.allCases)
    func `methods and formats come back`(method: WebhookMethod, format: WebhookFormat) {
        let made = webhook {
            $0.method = method
            $0.format = format
        }
        #expect(WebhookConfiguration(made.encode().span) == made)
    }

    @Test(arguments: [
        full, webhook { $0.timeoutMs = 100 }, webhook { $0.retry.jitter = 0 }, webhook { $0.retry.maxAgeMs = 1 },
        webhook { $0.retry.giveUpOn = FinalStatuses([.status(599), .clientErrors, .status(300)]) },
        webhook { $0.retry.multiplier = 1.1 }, webhook { $0.secrets = full.secrets },
        webhook { $0.headers = full.headers },
    ])
    func `what is set comes back`(webhook: WebhookConfiguration) {
        #expect(WebhookConfiguration(webhook.encode().span) == webhook)
    }

    @Test func `retries without age and statuses have the bytes that they always had`() {
        let bytes = webhook { $0.retry = RetryPolicy(maxAttempts: 3, initialMs: 10, maxMs: 500) }.encode()
        #expect(Array(bytes.dropFirst(3 + url.utf8.count).prefix(4)) == [3, 10, 0xF4, 3])
        #expect(bytes.count == 3 + url.utf8.count + 4 + 16)
    }

    @Test func `a list of statuses has one spelling`() {
        let bytes = webhook { $0.retry.giveUpOn = FinalStatuses([.clientErrors, .status(404)]) }.encode()
        #expect(Array(bytes.suffix(4)) == [2, 4, 0x94, 3])
        for tail in [[2, 4, 4], [0], [1, 0xCC, 1], [2, 4]] as [[UInt8]] {
            let damaged = Array(bytes.dropLast(4) + tail)
            #expect(WebhookConfiguration(damaged.span) == nil)
        }
    }

    @Test func `a zero has one spelling`() {
        #expect(webhook { $0.retry.jitter = -0.0 }.encode() == webhook { $0.retry.jitter = 0 }.encode())
        var bytes = webhook { $0.retry.jitter = 0 }.encode()
        bytes[bytes.count - 1] = 0x80
        #expect(WebhookConfiguration(bytes.span) == nil)
    }

    @Test func `a bit that means nothing is refused`() {
        var bytes = Self.full.encode()
        bytes[0] |= 0x80
        #expect(WebhookConfiguration(bytes.span) == nil)
    }

    @Test(arguments: [
        full, webhook { _ in }, webhook { $0.url = "HTTP://Example.com:80?x" },
        webhook { $0.url = "https://a:8443/" + String(repeating: "x", count: 2033) },
    ])
    func `the origin is read without the rest`(webhook: WebhookConfiguration) {
        let bytes = webhook.encode()
        let origin = WebhookURL.origin(of: webhook.url)
        #expect(WebhookConfiguration.origin(encoded: bytes.span) == origin)
        #expect(WebhookConfiguration.origin(encoded: (bytes + [1, 2, 3]).span) == origin)
    }

    @Test(
        arguments: [[], [0], [0, 0], [0, 0, 0], [0, 0, 5, 0x68], [0, 0, 0x80], [0, 0, 0x81, 0xFF, 0x68]] as [[UInt8]])
    func `bytes without a URL have no origin`(bytes: [UInt8]) {
        #expect(WebhookConfiguration.origin(encoded: bytes.span) == nil)
    }

    @Test func `every cut and every byte more is refused`() {
        let bytes = Self.full.encode()
        for count in bytes.indices { #expect(WebhookConfiguration(Array(bytes[..<count]).span) == nil) }
        #expect(WebhookConfiguration((bytes + [0]).span) == nil)
    }

    @Test func `any bytes are a valid configuration's only spelling, or none`() {
        var numbers = SeededGenerator(seed: 4)
        var read = 0
        for round in 0..<40_000 {
            let base = round % 2 == 0 ? Self.full : WebhookConfiguration(url: url, timeoutMs: 300)
            let bytes = round % 10 == 9 ? numbers.bytes(0...60) : numbers.mutation(of: base.encode())
            guard let found = WebhookConfiguration(bytes.span) else { continue }
            read += 1
            #expect(refusal(found) == nil)
            #expect(found.encode() == bytes)
        }
        #expect(read > 100)
    }
}
