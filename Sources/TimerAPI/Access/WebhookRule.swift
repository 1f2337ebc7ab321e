import TimerCore
import Webhooks

/// The rule of the webhooks that a client may set.
///
/// A webhook without a secret of its own is signed by the server's default secret, if there is one. A key with an
/// `idPrefix` may not have the server sign by that secret for a receiver of its choice.
struct WebhookRule {
    private let needsOwnSecret: Bool

    /// The rule of clients that may set any webhook.
    static let none = WebhookRule(needsOwnSecret: false)

    private init(needsOwnSecret: Bool) { self.needsOwnSecret = needsOwnSecret }

    /// - Parameter signsByDefault: whether the server has a default secret.
    init(_ principal: Principal, signsByDefault: () -> Bool) {
        guard case .key(let holder) = principal, !holder.key.idPrefix.isEmpty else {
            needsOwnSecret = false
            return
        }
        needsOwnSecret = signsByDefault()
    }

    /// Returns `definition`, unless its webhook breaks the rule and is not that of `present`.
    func checked(_ definition: [UInt8], over present: [UInt8] = []) throws(Problem) -> [UInt8] {
        guard needsOwnSecret, let layout = Definition.layout(definition.span), let webhook = layout.webhook,
            WebhookJSON.configuration(definition.span, layout)?.secrets.isEmpty ?? false
        else { return definition }
        if let old = Definition.layout(present.span)?.webhook, present[old] == definition[webhook] { return definition }
        throw .needsOwnSecret
    }
}
