import Testing

@testable import Webhooks

private let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

struct WebhookSecretTests {
    @Test func `a secret is read and written in its text form`() throws {
        let secret = try WebhookSecret(text)
        #expect(secret.key.count == 24)
        #expect(secret.text == text)
        #expect(try WebhookSecret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8").key == Array(0..<32))
    }

    @Test(arguments: [
        ("", "a secret is `whsec_` and base64"),
        ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a secret is `whsec_` and base64"),
        ("WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a secret is `whsec_` and base64"),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w", "a secret is `whsec_` and base64"),
        ("whsec_", "a secret's base64 encodes 24 to 64 bytes, not 0"),
        ("whsec_" + String(repeating: "A", count: 31), "a secret's base64 encodes 24 to 64 bytes, not 23"),
        ("whsec_" + String(repeating: "A", count: 87), "a secret's base64 encodes 24 to 64 bytes, not 65"),
    ])
    func `another text is refused without showing it`(text: String, message: String) {
        #expect(throws: WebhookError(member: "secret/1", message: message)) {
            try WebhookSecret(text, member: "secret/1")
        }
    }

    @Test(arguments: [(23, false), (24, true), (64, true), (65, false)])
    func `a key has 24 to 64 bytes`(count: Int, isAllowed: Bool) {
        #expect((WebhookSecret(key: Array(repeating: 7, count: count)) != nil) == isAllowed)
    }

    @Test func `nothing that prints a secret shows more than its end`() throws {
        let secret = try WebhookSecret(text)
        #expect(secret.masked == "whsec_…LaSw")
        let webhook = WebhookConfiguration(url: "https://example.com", secrets: [secret])
        var dumped = ""
        dump(webhook, to: &dumped)
        for shown in ["\(secret)", "\(webhook)", String(reflecting: webhook), dumped] {
            #expect(shown.contains("whsec_…LaSw"))
            #expect(!shown.contains("MfKQ9r8G") && !shown.contains("49, 242") && !shown.contains("- 242"))
        }
    }

    @Test func `a mask finds the one secret it shows`() throws {
        let first = try WebhookSecret(text)
        let second = try #require(WebhookSecret(key: Array(0..<24)))
        // This secret ends as the first one does.
        let twin = try WebhookSecret("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAALaSw")
        #expect(WebhookSecret.matching(first.masked, in: [second, first]) == first)
        #expect(WebhookSecret.matching(first.masked, in: [first, second, first]) == first)
        #expect(WebhookSecret.matching(first.masked, in: [second]) == nil)
        #expect(WebhookSecret.matching(first.masked, in: [first, twin]) == nil)
        #expect(WebhookSecret.matching(first.text, in: [first]) == nil)
        #expect(WebhookSecret.isMask(first.masked))
        #expect(!WebhookSecret.isMask(first.text))
        #expect(!WebhookSecret.isMask("whsec_…") && !WebhookSecret.isMask("whsec_…LaSwX"))
    }
}
