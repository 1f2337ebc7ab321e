import TimerCore
import Webhooks
import WireJSON

/// Reads a webhook out of the body of a create: a URL, or an object.
struct WebhookFields {
    /// A secret as the body gives it.
    private enum GivenSecret {
        case whole(WebhookSecret)
        /// The mask that a stored secret is shown as, which stands for that secret.
        case mask(String, pointer: String)
    }

    private enum Member: String, CaseIterable {
        case url, method, headers, secretHeaders, format, secret, timeout, types, retry
        /// The read-only member, which is ignored.
        case stopped
    }

    private enum RetryMember: String, CaseIterable {
        case maxAttempts, maxAge, giveUpOn, initial, multiplier, max, jitter
    }

    /// The types of events that the webhook is sent.
    private(set) var types = EventTypes(.fired)
    /// The configuration, without the secrets and the headers' values that masks stand for.
    private var configuration = WebhookConfiguration(url: "")
    private var secrets: [GivenSecret] = []

    /// Reads the value of `webhook`, each member checked; nil for `null`.
    init?(_ document: JSONDocument, _ node: JSONNode) throws(Problem) {
        let value = FieldReader(document, node)
        switch document.kind(node) {
        case .null:
            return nil
        case .string:
            configuration.url = try value.string() ?? ""
            do throws(WebhookError) { try configuration.validate() } catch { throw value.invalid(error.message) }
        case .object:
            for field in document.children(of: node) { try read(document, field) }
            guard let url = document.member(node, "url"), document.kind(url) != .null else {
                throw value.invalid("a webhook needs a `url`")
            }
            try Self.validate(configuration)
        default:
            throw value.invalid("a webhook is a URL, or an object with a `url`")
        }
    }

    private static func validate(_ configuration: WebhookConfiguration) throws(Problem) {
        do throws(WebhookError) {
            try configuration.validate()
        } catch {
            throw Problem(.invalidRequest, error.message, pointer: "/webhook/\(error.member)")
        }
    }

    private mutating func read(_ document: JSONDocument, _ field: JSONNode) throws(Problem) {
        let value = FieldReader(document, field)
        switch try Self.member(document, field, of: "a webhook") as Member {
        case .url: configuration.url = try value.string() ?? ""
        case .method: configuration.method = try value.choice(WebhookMethod.allCases.map { ($0.name, $0) }) ?? .post
        case .headers: configuration.headers = try Self.headers(document, field)
        case .secretHeaders: configuration.secretHeaders = try Self.names(document, field)
        case .format: configuration.format = try value.choice(WebhookFormat.allCases.map { ($0.name, $0) }) ?? .standard
        case .secret: try readSecrets(document, field)
        case .timeout:
            configuration.timeoutMs = try value.duration(.invalidRequest) ?? WebhookConfiguration.defaultTimeoutMs
        case .types: types = try Self.types(document, field) ?? types
        case .retry: configuration.retry = try Self.retry(document, field)
        case .stopped: break
        }
    }

    /// Returns the member that a field's key names.
    private static func member<Member: RawRepresentable<String> & CaseIterable>(
        _ document: JSONDocument, _ field: JSONNode, of owner: StaticString
    ) throws(Problem) -> Member {
        let name = String(decoding: document.keyBytes(field), as: UTF8.self)
        guard let member = Member(rawValue: name) else {
            throw Problem(noField: field, of: "\(owner)", document, among: Member.allCases.map(\.rawValue))
        }
        return member
    }

    /// Refuses a patch of a webhook that names a field no webhook has, even to remove it.
    static func requireKnownFields(_ patch: JSONDocument, _ node: JSONNode) throws(Problem) {
        for field in patch.children(of: node) {
            guard try member(patch, field, of: "a webhook") as Member == .retry else { continue }
            for field in patch.children(of: field) { _ = try member(patch, field, of: "`retry`") as RetryMember }
        }
    }

    private static func headers(_ document: JSONDocument, _ node: JSONNode) throws(Problem) -> [WebhookHeader] {
        let value = FieldReader(document, node)
        if value.isNull { return [] }
        guard document.kind(node) == .object else { throw value.invalid("headers are an object of strings") }
        var headers: [WebhookHeader] = []
        for field in document.children(of: node) {
            let line = FieldReader(document, field)
            guard let text = try line.string() else { throw line.invalid("a header's value must be a string") }
            headers.append(WebhookHeader(String(decoding: document.keyBytes(field), as: UTF8.self), text))
        }
        return headers
    }

    private static func names(_ document: JSONDocument, _ node: JSONNode) throws(Problem) -> [String] {
        let value = FieldReader(document, node)
        if value.isNull { return [] }
        guard document.kind(node) == .array else { throw value.invalid("`secretHeaders` is a list of headers' names") }
        var names: [String] = []
        for element in document.children(of: node) {
            let reader = FieldReader(document, element)
            guard let name = try reader.string() else { throw reader.invalid("a header's name must be a string") }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private static func types(_ document: JSONDocument, _ node: JSONNode) throws(Problem) -> EventTypes? {
        let value = FieldReader(document, node)
        if value.isNull { return nil }
        let elements = document.kind(node) == .array ? document.children(of: node) : []
        guard !elements.isEmpty else { throw value.invalid("`types` is a list of at least one type of event") }
        let deliverable = EventType.allCases.filter { !$0.isDelivery }
        var types: EventTypes = []
        for element in elements {
            let reader = FieldReader(document, element)
            let isDelivery = EventType.allCases.contains { $0.isDelivery && document.string(element, equals: $0.name) }
            if isDelivery { throw reader.invalid("the outcome of a delivery is itself never delivered") }
            guard let type = try reader.choice(deliverable.map { ($0.name, $0) }) else {
                throw reader.invalid("this must be a type of event")
            }
            types.insert(EventTypes(type))
        }
        return types
    }

    private static func retry(_ document: JSONDocument, _ node: JSONNode) throws(Problem) -> RetryPolicy {
        var policy = RetryPolicy.standard
        let value = FieldReader(document, node)
        if value.isNull { return policy }
        guard document.kind(node) == .object else { throw value.invalid("`retry` is an object") }
        for field in document.children(of: node) {
            let value = FieldReader(document, field)
            switch try member(document, field, of: "`retry`") as RetryMember {
            case .maxAttempts: policy.maxAttempts = try value.count().map(Int.init(clamping:)) ?? policy.maxAttempts
            case .maxAge: policy.maxAgeMs = try value.duration(.invalidRequest, atLeast: 1)
            case .giveUpOn: policy.giveUpOn = try finalStatuses(document, field)
            case .initial: policy.initialMs = try value.duration(.invalidRequest) ?? policy.initialMs
            case .multiplier: policy.multiplier = try value.number() ?? policy.multiplier
            case .max: policy.maxMs = try value.duration(.invalidRequest) ?? policy.maxMs
            case .jitter: policy.jitter = try value.number() ?? policy.jitter
            }
        }
        return policy
    }
}

// Statuses after which there is no other attempt.
extension WebhookFields {
    private static func finalStatuses(_ document: JSONDocument, _ node: JSONNode) throws(Problem) -> FinalStatuses {
        let value = FieldReader(document, node)
        if value.isNull { return FinalStatuses() }
        guard document.kind(node) == .array else {
            throw value.invalid("`giveUpOn` is a list of statuses, or of \"4xx\"")
        }
        var statuses = FinalStatuses()
        for element in document.children(of: node) {
            let reader = FieldReader(document, element)
            let entry = try finalStatus(document, element, reader)
            if let refusal = FinalStatuses.refusal(of: entry) { throw reader.invalid(refusal) }
            statuses.insert(entry)
            // Too many entries are refused with the configuration.
            if statuses.entries.count > FinalStatuses.mostEntries { break }
        }
        return statuses
    }

    private static func finalStatus(
        _ document: JSONDocument, _ element: JSONNode, _ value: FieldReader
    ) throws(Problem) -> FinalStatuses.Entry {
        switch document.kind(element) {
        case .string where document.string(element) == Array(FinalStatuses.clientErrorsText.utf8):
            return .clientErrors
        case .number:
            guard let number = try value.number(), let status = Int(exactly: number) else { break }
            return .status(status)
        default: break
        }
        throw value.invalid("this must be a status such as 404, or \"4xx\"")
    }
}

// Secrets, given whole or as masks.
extension WebhookFields {
    private mutating func readSecrets(_ document: JSONDocument, _ node: JSONNode) throws(Problem) {
        switch document.kind(node) {
        case .null:
            break
        case .string:
            try readSecret(FieldReader(document, node), "secret")
        case .array:
            for (index, element) in document.children(of: node).enumerated() {
                try readSecret(FieldReader(document, element), "secret/\(index)")
            }
        default:
            throw FieldReader(document, node).invalid("`secret` is a string, or a list of them")
        }
        for case .whole(let secret) in secrets { configuration.secrets.append(secret) }
    }

    private mutating func readSecret(_ value: FieldReader, _ member: String) throws(Problem) {
        guard let text = try value.string() else { throw value.invalid("a secret must be a string") }
        if WebhookSecret.isMask(text) { return secrets.append(.mask(text, pointer: "/webhook/\(member)")) }
        do throws(WebhookError) {
            secrets.append(.whole(try WebhookSecret(text, member: member)))
        } catch {
            throw value.invalid(error.message)
        }
    }

    /// Leaves out the masks, of secrets and of headers. Returns whether there were any.
    mutating func dropMasks() -> Bool {
        let (secretCount, headerCount) = (secrets.count, configuration.headers.count)
        secrets.removeAll { if case .mask = $0 { true } else { false } }
        configuration.headers.removeAll { $0.value == WebhookJSON.headerMask }
        return secrets.count < secretCount || configuration.headers.count < headerCount
    }

    /// Whether the URL is a mask.
    private var hasMaskedURL: Bool { configuration.url == WebhookJSON.masked(configuration.url) }

    /// Whether the stored configuration is needed to make the whole one: for a mask, or for a header that stays
    /// secret as long as its value does not change.
    var needsStored: Bool {
        hasMaskedURL || secrets.contains { if case .mask = $0 { true } else { false } }
            || !configuration.headers.isEmpty
    }

    /// Returns the whole configuration: each mask is replaced by what it stands for.
    ///
    /// - Parameter stored: the timer's present webhook; nil for none. Its secrets are kept only if the URL has the same
    ///   origin as before: a client that changes the URL must not get them sent elsewhere.
    func configuration(keeping stored: WebhookConfiguration?) throws(Problem) -> WebhookConfiguration {
        var whole = configuration
        if hasMaskedURL { whole.url = try keptURL(of: stored) }
        whole.secrets = []
        var shown: [String: Int] = [:]
        for secret in secrets {
            switch secret {
            case .whole(let secret):
                whole.secrets.append(secret)
            case .mask(let mask, let pointer):
                let place = shown[mask, default: 0]
                shown[mask] = place + 1
                do throws(WebhookError) {
                    whole.secrets.append(try kept(mask, place, of: stored))
                } catch {
                    throw Problem(.invalidRequest, error.message, pointer: pointer)
                }
            }
        }
        try keepHeaders(&whole, of: stored)
        try Self.validate(whole)
        return whole
    }

    private func keptURL(of stored: WebhookConfiguration?) throws(Problem) -> String {
        guard let stored, configuration.sameOrigin(as: stored) else {
            throw Problem(
                .invalidRequest,
                "this is a mask, and no URL of this origin is stored that it could mean: give the whole URL",
                pointer: "/webhook/url")
        }
        return stored.url
    }

    /// Replaces masks by the values that they stand for. A header that was secret stays secret while
    /// its value is the same.
    private func keepHeaders(_ whole: inout WebhookConfiguration, of stored: WebhookConfiguration?) throws(Problem) {
        for index in whole.headers.indices {
            let name = whole.headers[index].name
            let old = stored.flatMap { $0.header(name) }
            let isSecret = old.map { stored?.isSecret($0.name) ?? false } ?? false
            if whole.headers[index].value == WebhookJSON.headerMask {
                guard let old else {
                    throw Self.refusal(
                        name, "this is a mask, and no value is stored that it could mean: give the value")
                }
                guard let stored,
                    configuration.sameOrigin(as: stored) || !isSecret && old.value == WebhookJSON.headerMask
                else {
                    throw Self.refusal(
                        name, "the URL leads to another origin than before: give the value again, or `null`")
                }
                whole.headers[index].value = old.value
            }
            guard let old, isSecret, old.value == whole.headers[index].value else { continue }
            if !whole.isSecret(name) { whole.secretHeaders.append(name) }
        }
    }

    private static func refusal(_ header: String, _ message: String) -> Problem {
        Problem(.invalidRequest, message, pointer: "/webhook/headers/\(WebhookError.step(header))")
    }

    /// Returns the stored secret that `mask` stands for. `place` counts the same masks before it in the body.
    ///
    /// The secret is found by its mask, so that secrets can be added and removed beside it. Different secrets may
    /// have the same mask; they are taken in their order if all of them are sent back.
    private func kept(
        _ mask: String, _ place: Int, of stored: WebhookConfiguration?
    ) throws(WebhookError) -> WebhookSecret {
        func refusal(_ message: String) -> WebhookError { WebhookError(member: "secret", message: message) }
        guard let stored, !stored.secrets.isEmpty else {
            throw refusal("this is a mask, and no secret is stored that it could mean: give the whole secret")
        }
        guard configuration.sameOrigin(as: stored) else {
            throw refusal("the URL leads to another origin than before: give the whole secret again, or `null`")
        }
        if let secret = WebhookSecret.matching(mask, in: stored.secrets) { return secret }
        let alike = stored.secrets.filter { $0.masked == mask }
        guard !alike.isEmpty else {
            throw refusal("no stored secret is shown as this mask: give the whole secret")
        }
        let count = secrets.count { if case .mask(mask, _) = $0 { true } else { false } }
        guard count == alike.count else {
            throw refusal("\(alike.count) stored secrets are shown as this mask: give them whole, or send back all")
        }
        return alike[place]
    }
}
