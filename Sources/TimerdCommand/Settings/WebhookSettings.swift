import ArgumentParser
import Platform
import TimerService
import Webhooks

/// The flags of `timerd serve` about webhooks; `DeliveryConfiguration.init(_:)` reads their values.
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

extension DeliveryConfiguration {
    /// Most rules of a list; each is checked before a connection is made.
    private static let maximumRules = 1024
    private static let proxySchemes = ["http://", "https://", "socks5://", "socks5h://"]

    /// Reads the settings of webhooks.
    ///
    /// - Throws: `usage` at the first invalid value of a flag or variable, `unusable` for one in a file, such as
    ///   that of secrets.
    init(_ settings: SettingReader) throws(Failure) {
        self.init()
        perHost = try settings.one(.webhookPerHost).integer(1...65_536)
        concurrency = try settings.one(.webhookConcurrency).integer(1...65_536)
        backlog = try settings.one(.webhookBacklog).integer(1...1_000_000_000)
        deadLetters = try settings.one(.webhookDeadLetters).integer(0...1_000_000_000)
        var policy = DeliveryPolicy()
        policy.allow = try Self.rules(settings.all(.webhookAllow))
        policy.deny = try Self.rules(settings.all(.webhookDeny))
        if let value = try settings.all(.webhookProxy).first {
            proxy = try Self.proxy(value)
            // Only the proxy knows the address that is connected to, so the server could not apply its rules.
            guard policy.allow.isEmpty, policy.deny.isEmpty else {
                throw value.hiddenRefusal(
                    "it can't be beside rules that allow or deny targets: the proxy judges, not the server")
            }
        }
        if let file = try settings.all(.webhookSecretFile).first {
            policy.secrets = try SecretFile.read(file.nonEmpty())
        }
        self.policy.publish(policy)
    }

    private static func rules(_ values: [SettingValue]) throws(Failure) -> [AddressRule] {
        var rules: [AddressRule] = []
        for value in values {
            guard rules.count < maximumRules else { throw value.refusal("more than \(maximumRules) rules") }
            do throws(WebhookError) {
                rules.append(try AddressRule(value.text, option: "\(value.origin)"))
            } catch {
                throw Failure(value.origin.code, "\(error.member): \(error.message)")
            }
        }
        return rules
    }

    /// Returns a proxy's URL as it was given, without a slash at its end. The URL may hold a user name and a
    /// password, so no refusal shows it.
    private static func proxy(_ value: SettingValue) throws(Failure) -> String {
        let text = value.text.hasSuffix("/") ? String(value.text.dropLast()) : value.text
        guard let scheme = proxySchemes.first(where: text.hasPrefix) else {
            throw value.hiddenRefusal("a proxy starts with http://, https://, socks5:// or socks5h://")
        }
        let rest = text.dropFirst(scheme.count)
        let place = rest[(rest.lastIndex(of: "@").map(rest.index(after:)) ?? rest.startIndex)...]
        // Programs disagree on a proxy's default port, so the URL must have one.
        guard let url = try? WebhookURL("http://\(place)"), place.hasSuffix(":\(url.port)"),
            rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.contains(where: "/?#".contains)
        else { throw value.hiddenRefusal("a proxy is a scheme, a host and a port, as http://host:3128") }
        return text
    }
}
