import HTTPServer

/// Who may come in: bearer tokens, and the rules that keep other sites' pages out.
struct Gate {
    private let tokens: [[UInt8]]
    private let allowedHosts: Set<String>

    init(_ configuration: APIConfiguration) {
        tokens = configuration.tokens
        allowedHosts = Set(configuration.allowedHosts.map { $0.lowercased() })
    }

    /// Refuses a request without a token where one is needed.
    func authenticate(_ exchange: Exchange, _ route: Route?) throws(Problem) {
        if tokens.isEmpty || route?.isOpen ?? false { return }
        let prefix = "bearer "
        guard let value = exchange.header("authorization")?.bytes, value.count > prefix.utf8.count,
            String(decoding: value.prefix(prefix.utf8.count), as: UTF8.self).lowercased() == prefix
        else { throw Problem(.unauthorized, "send `Authorization: Bearer` with a token of the server's token file") }
        let given = Array(value.dropFirst(prefix.utf8.count))
        // Every token is compared in full, so that the time tells nothing about how much of one was right.
        var isKnown = false
        for token in tokens { isKnown = Self.constantTimeEquals(token, given) || isKnown }
        guard isKnown else { throw Problem(.unauthorized, "the token is not known") }
    }

    private static func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        var difference = UInt8(left.count == right.count ? 0 : 1)
        for index in left.indices { difference |= left[index] ^ (index < right.count ? right[index] : 0) }
        return difference == 0
    }

    /// Refuses what a page of another site asks for: changes and streams from elsewhere, and names that lead here.
    func checkOrigin(_ exchange: Exchange, _ route: Route?) throws(Problem) {
        if exchange.listenerIsLoopback { try checkHost(exchange) }
        let changes = exchange.method != .get && exchange.method != .head && exchange.method != .options
        guard changes || route?.isStream ?? false else { return }
        if let site = exchange.header("sec-fetch-site"), site.equals("cross-site") || site.equals("same-site") {
            throw Problem(.crossOrigin, "the request comes from another site's page")
        }
        guard let origin = exchange.header("origin") else { return }
        let text = origin.text.lowercased()
        let host = text.range(of: "://").map { String(text[$0.upperBound...]) }
        guard let host, host == exchange.authority?.text.lowercased() else {
            throw Problem(.crossOrigin, "`Origin` is not this host")
        }
    }

    private func checkHost(_ exchange: Exchange) throws(Problem) {
        guard let authority = exchange.authority?.text.lowercased() else { return }
        let name = Self.hostName(authority)
        if name == "localhost" || Self.isAddress(name) || allowedHosts.contains(name) { return }
        throw Problem(.misdirected, "`Host` names neither localhost nor an address nor an allowed host")
    }

    /// The host without its port.
    private static func hostName(_ authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.prefix { $0 != "]" }) + "]" }
        return String(authority.prefix { $0 != ":" })
    }

    private static func isAddress(_ name: String) -> Bool {
        if name.hasPrefix("[") && name.hasSuffix("]") {
            return name.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { !$0.isEmpty && UInt8($0) != nil }
    }
}

extension String {
    /// The range of the first occurrence of `needle`.
    fileprivate func range(of needle: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(needle) { return start..<index(start, offsetBy: needle.count) }
            start = index(after: start)
        }
        return nil
    }
}
