import TimerCore
import WireJSON

/// Problems of credentials, and of requests about keys.
extension Problem {
    /// The refusal of a key that lacks a scope.
    static func forbidden(_ scope: KeyScopes) -> Problem {
        let name = scope.names.first ?? ""
        var problem = Problem(.forbidden, "this takes the scope `\(name)`, which the key does not have")
        problem.scope = name
        return problem
    }

    /// The refusal of a webhook without a secret of its own.
    static var needsOwnSecret: Problem {
        Problem(
            .invalidRequest,
            "the server signs webhooks without a secret of their own by its default one: a key with an `idPrefix` sets a "
                + "`secret`", pointer: "/webhook/secret")
    }

    /// The refusal of a key that is for other timers.
    static func forbiddenBeyond(_ idPrefix: [UInt8]) -> Problem {
        let prefix = String(decoding: idPrefix, as: UTF8.self)
        var problem = Problem(.forbidden, "this key is for single timers whose ids begin with `\(prefix)`")
        problem.idPrefix = idPrefix
        return problem
    }

    /// The refusal of a key by a server that does not know the keys, and answers the request itself.
    ///
    /// - Parameter owner: the URL of the node that knows them; nil if it is unknown.
    static func cannotJudge(owner: String?) -> Problem {
        var problem = Problem.elsewhere(owner: owner)
        problem.detail = "only the node that owns the timers knows the keys; a token is known here too"
        return problem
    }

    /// The credential is none that is known, or has ended.
    static var unknownCredential: Problem {
        Problem(
            .unauthorized, "the credential is not known: no such token or key, or the key was revoked or has expired")
    }

    /// Makes the problem that a refusal by the rules of keys is to a client.
    init(_ refusal: KeyRefusal) {
        switch refusal {
        case .notFound: self.init(.notFound, "there is no key with this id")
        case .grantorIsGone: self = .unknownCredential
        case .noTokens:
            self.init(
                .forbidden,
                "this server asks nobody for a credential, so that a key would keep nobody out: start it with "
                    + "`--token-file`, a file of tokens, each of which has every right, and send one of them")
            scope = "admin"
        case .isFull:
            self.init(.timerLimit, "there are \(KeyRing.most) keys already: revoke some")
        case .exists: self.init(.timerExists, "there is a key with this id")
        case .isExpired: self.init(.invalidRequest, "the key has expired and is not revived: make another one")
        case .isPast: self.init(.invalidRequest, "this instant has passed already", pointer: "/expiresAt")
        case .prefixWithAdmin:
            self.init(.invalidRequest, KeyFields.prefixRule, pointer: "/idPrefix")
        case .endsLater(let end):
            var instant: [UInt8] = []
            RFC3339.append(end, to: &instant)
            let text = String(decoding: instant, as: UTF8.self)
            self.init(.forbidden, "the key that you send ends at \(text): it makes and changes no key that ends later")
            scope = "admin"
        }
    }
}
