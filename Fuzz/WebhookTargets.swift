import Webhooks

/// Input: an encoded webhook.
func fuzzWebhook(_ input: [UInt8]) {
    _ = WebhookConfiguration.origin(encoded: input.span)
    guard let webhook = WebhookConfiguration(input.span) else { return }
    require(webhook.encode() == input, "a webhook has two spellings")
    require(
        WebhookConfiguration.origin(encoded: input.span) == WebhookURL.origin(of: webhook.url),
        "the origin reads otherwise in the whole")
}

/// Input: a receiver's answer, a client's URL, an operator's rule.
func fuzzAnswer(_ input: [UInt8]) {
    if case .reschedule(let delay, _) = TimerCommandHeader(input) {
        require(delay >= 0, "a fire is put off into the past")
    }
    if let wait = RetryAfter.milliseconds(input, nowMs: 1_800_000_000_000) {
        require(wait >= 0, "an attempt is due in the past")
    }
    let text = String(decoding: input, as: UTF8.self)
    if let url = try? WebhookURL(text) {
        require(url.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x40 }, "a host has odd characters")
    }
    if let address = IPAddress(text) {
        require(IPAddress(address.description) == address, "an address reads otherwise once written")
        require(IPAddress(bytes: address.bytes) == address, "an address has other bytes")
    }
    _ = try? AddressRule(text, option: "rule")
}
