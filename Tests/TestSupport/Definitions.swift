package import TimerCore

/// The key of the timer `id`, in a log with the secret `secret`.
package func key(_ id: String, secret: [UInt8] = []) -> TimerKey {
    TimerKey(id: Array(id.utf8).span, siphash: SipHash(secret: secret))
}

/// An encoded definition.
package func definition(
    _ id: String, _ rules: TimerRules = TimerRules(.after(1000)), labels: [(String, String)] = [],
    webhook: [UInt8] = [], payload: [UInt8] = []
) -> [UInt8] {
    var run: [UInt8] = []
    for (key, value) in labels {
        Definition.appendLabel(key: Array(key.utf8).span, value: Array(value.utf8).span, to: &run)
    }
    return Definition.encode(
        id: Array(id.utf8).span, labels: run.span, rules: rules, webhook: webhook.span, payload: payload.span)
}
