import Primitives

/// A header line's name and value.
public struct WebhookHeader: Sendable, Equatable {
    /// The name as it is sent.
    public var name: String
    /// The value as it is sent; may be empty.
    public var value: String

    /// Makes a line of `name` and `value`.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The rules for the header lines that a webhook may set.
enum HeaderRules {
    private static let longestName = 256
    private static let longestValue = 1024
    /// The headers that the server sets: where the request goes, what its body is, and how the connection carries it.
    private static let reserved: Set<String> = [
        "host", "content-length", "content-type", "connection", "keep-alive", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    private static let reservedPrefixes = ["proxy-", "webhook-", "timerd-"]
    /// Headers that carry credentials. The one for a proxy on the receiver's side is allowed although its prefix is
    /// reserved.
    private static let credentials: Set<String> = ["authorization", "proxy-authorization", "cookie"]
    /// The headers reserved for traces, later than the others: see `isGiven`.
    private static let traces: Set<String> = ["traceparent", "tracestate"]

    /// Whether a header of that name always carries credentials.
    static func isCredential(_ name: String) -> Bool { credentials.contains(name.lowercased()) }

    /// Whether a header of that name says which trace a request belongs to.
    static func isAboutTraces(_ name: String) -> Bool { traces.contains(name.lowercased()) }

    /// Whether two names mean one header.
    static func isSame(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

    /// Whether a header line can carry `value`: it has no line ends and no other control characters but tabs.
    static func isValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    /// Throws if a header's name is not allowed.
    static func validate(name: String, member: String) throws(WebhookError) {
        guard HTTPToken.isToken(name) else {
            throw WebhookError(
                member: member, message: "a header's name must be letters, digits and !#$%&'*+-.^_`|~ only")
        }
        guard name.utf8.count <= longestName else {
            throw WebhookError(member: member, message: "a header's name has at most \(longestName) bytes")
        }
    }

    /// Throws if `header` is not allowed.
    ///
    /// - Parameter isGiven: see `WebhookConfiguration.validate`.
    static func validate(_ header: WebhookHeader, isGiven: Bool) throws(WebhookError) {
        let member = "headers/\(WebhookError.step(header.name))"
        try validate(name: header.name, member: member)
        let name = header.name.lowercased()
        let isReserved =
            reserved.contains(name) || reservedPrefixes.contains(where: name.hasPrefix)
            || isGiven && traces.contains(name)
        guard !isReserved || credentials.contains(name) else {
            throw WebhookError(member: member, message: "a webhook may not set the header `\(header.name)`")
        }
        guard header.value.utf8.count <= longestValue else {
            throw WebhookError(member: member, message: "a header's value has at most \(longestValue) bytes")
        }
        guard isValue(header.value) else {
            throw WebhookError(member: member, message: "a header's value may hold no line ends and control characters")
        }
    }
}
