/// Which header lines a webhook may set.
enum HeaderRules {
    private static let longestName = 256
    private static let longestValue = 1024
    /// The server's own: where the request goes, what its body is, and how one connection carries it.
    private static let reserved: Set<String> = [
        "host", "content-length", "content-type", "connection", "keep-alive", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    private static let reservedPrefixes = ["proxy-", "webhook-", "timerd-"]
    private static let tokenMarks = Set("!#$%&'*+-.^_`|~".utf8)

    /// Throws what is wrong with `header`.
    static func validate(_ header: WebhookHeader) throws(WebhookError) {
        let member = "headers/\(WebhookError.step(header.name))"
        guard !header.name.isEmpty, header.name.utf8.allSatisfy(isTokenByte) else {
            throw WebhookError(
                member: member, message: "a header's name must be letters, digits and !#$%&'*+-.^_`|~ only")
        }
        guard header.name.utf8.count <= longestName else {
            throw WebhookError(member: member, message: "a header's name has at most \(longestName) bytes")
        }
        let name = header.name.lowercased()
        guard !reserved.contains(name), !reservedPrefixes.contains(where: name.hasPrefix) else {
            throw WebhookError(member: member, message: "a webhook may not set the header `\(header.name)`")
        }
        guard header.value.utf8.count <= longestValue else {
            throw WebhookError(member: member, message: "a header's value has at most \(longestValue) bytes")
        }
        guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw WebhookError(member: member, message: "a header's value may hold no line ends and control characters")
        }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: tokenMarks.contains(byte)
        }
    }
}
