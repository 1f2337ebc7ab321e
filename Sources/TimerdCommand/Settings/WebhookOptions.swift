import ArgumentParser

/// The flags of `timerd serve` about webhooks; `WebhookSettings.swift` reads their values.
struct WebhookOptions: ParsableArguments {
    @Option(name: Setting.webhookPerHost.name, help: Setting.webhookPerHost.help) var perHost: String?
    @Option(name: Setting.webhookConcurrency.name, help: Setting.webhookConcurrency.help) var concurrency: String?
    @Option(name: Setting.webhookBacklog.name, help: Setting.webhookBacklog.help) var backlog: String?
    @Option(name: Setting.webhookDeadLetters.name, help: Setting.webhookDeadLetters.help) var deadLetters: String?
    @Option(name: Setting.webhookSecretFile.name, help: Setting.webhookSecretFile.help) var secretFile: String?
    @Option(name: Setting.webhookAllow.name, help: Setting.webhookAllow.help) var allow: [String] = []
    @Option(name: Setting.webhookDeny.name, help: Setting.webhookDeny.help) var deny: [String] = []
    @Option(name: Setting.webhookProxy.name, help: Setting.webhookProxy.help) var proxy: String?

    /// The values that each flag was given, by its name.
    var flags: [String: [String]] {
        func given(_ flag: String?) -> [String] { flag.map { [$0] } ?? [] }
        return [
            Setting.webhookPerHost.flag: given(perHost), Setting.webhookConcurrency.flag: given(concurrency),
            Setting.webhookBacklog.flag: given(backlog), Setting.webhookDeadLetters.flag: given(deadLetters),
            Setting.webhookSecretFile.flag: given(secretFile), Setting.webhookAllow.flag: allow,
            Setting.webhookDeny.flag: deny, Setting.webhookProxy.flag: given(proxy),
        ]
    }
}
