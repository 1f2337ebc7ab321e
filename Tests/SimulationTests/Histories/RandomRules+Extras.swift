import TestSupport
import Webhooks

@testable import TimerCore

/// Random webhooks, labels and payloads.
extension RandomRules {
    /// Hosts that webhooks lead to.
    static let hosts = ["one.test", "two.test", "three.test"]

    /// The parts of a definition beside its rules.
    struct Extras {
        var labels: [[UInt8]] = []
        var webhook: WebhookConfiguration?
        var payload: [UInt8] = []
    }

    /// Labels that timers carry, in their encoded form.
    static let labels = [label("team", "a"), label("team", "b"), label("env", "x"), label("none", "")]

    private static func label(_ key: String, _ value: String) -> [UInt8] {
        var bytes: [UInt8] = []
        Definition.appendLabel(key: Array(key.utf8).span, value: Array(value.utf8).span, to: &bytes)
        return bytes
    }

    static func extras(_ random: inout SeededGenerator) -> Extras {
        var extras = Extras()
        extras.labels = labels.filter { _ in random.chance(oneIn: 4) }
        if random.chance(oneIn: 2) { extras.webhook = webhook(&random) }
        if random.chance(oneIn: 4) { extras.payload = Array("\"payload\"".utf8) }
        return extras
    }

    static func webhook(_ random: inout SeededGenerator) -> WebhookConfiguration {
        let host = hosts.randomElement(using: &random) ?? hosts[0]
        let initial = Int64.random(in: 1...5000, using: &random)
        return WebhookConfiguration(
            url: "http://\(host)/\(Int.random(in: 0..<1000, using: &random))",
            retry: RetryPolicy(
                maxAttempts: Int.random(in: 1...4, using: &random), initialMs: initial, multiplier: 2,
                maxMs: max(60_000, initial), jitter: random.chance(oneIn: 2) ? 0 : 0.5))
    }

    /// The types of events that go to a webhook.
    static func deliveries(_ random: inout SeededGenerator) -> EventTypes {
        if random.chance(oneIn: 2) { return EventTypes(.fired) }
        var types = EventTypes(.fired)
        for type in EventType.allCases where !type.isDelivery && type != .deleted && random.chance(oneIn: 2) {
            types.insert(EventTypes(type))
        }
        return types
    }

    /// The parts of a definition beside its rules.
    static func extras(of definition: [UInt8]) -> Extras {
        var extras = Extras()
        guard let layout = Definition.layout(definition.span) else { return extras }
        let all = Definition.labels(definition.span)
        var offset = all.lowerBound
        while true {
            let start = offset
            guard Definition.nextLabel(definition.span, &offset, end: all.upperBound) != nil else { break }
            extras.labels.append(Array(definition[start..<offset]))
        }
        extras.webhook = layout.webhook.flatMap { WebhookConfiguration(definition.span.extracting($0)) }
        extras.payload = layout.payload.map { Array(definition[$0]) } ?? []
        return extras
    }

    /// An encoded definition of the timer `id`.
    static func definition(_ id: String, _ rules: TimerRules, _ extras: Extras = Extras()) -> [UInt8] {
        let labels = Array(extras.labels.joined())
        let webhook = extras.webhook?.encode() ?? []
        return Definition.encode(
            id: Array(id.utf8).span, labels: labels.span, rules: rules, webhook: webhook.span,
            payload: extras.payload.span)
    }
}
