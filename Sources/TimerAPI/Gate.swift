import HTTPServer

/// Who may come in: bearer tokens, and the rules that keep other sites' pages out.
struct Gate {
    private let tokens: [[UInt8]]
    private let allowedHosts: Set<String>
    /// Listeners that a browser on this machine reaches: loopback addresses, but no Unix sockets.
    private let guardedListeners: Set<Int>

    init(_ configuration: APIConfiguration) {
        tokens = configuration.tokens
        allowedHosts = Set(configuration.allowedHosts.map { $0.lowercased() })
        guardedListeners = Set(
            configuration.listeners.indices.filter {
                if case .tcp = configuration.listeners[$0] { return configuration.listeners[$0].isLoopback }
                return false
            })
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
        if guardedListeners.contains(exchange.listenerIndex) { try checkHost(exchange) }
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
        guard let authority = exchange.authority?.bytes else { return }
        if let host = Self.host(of: authority) {
            if Self.isAddress(host) { return }
            let name = String(decoding: host, as: UTF8.self).lowercased()
            if name == "localhost" || allowedHosts.contains(name) { return }
        }
        throw Problem(.misdirected, "`Host` names neither localhost nor an address nor an allowed host")
    }

    /// The host of `authority`, without a port; nil when what follows it is no port.
    static func host(of authority: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let end: Int
        if authority.first == UInt8(ascii: "[") {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")), bracket > authority.startIndex + 1 else {
                return nil
            }
            end = bracket + 1
        } else {
            end = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        }
        let port = authority[end...]
        let isPort =
            port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
        return isPort ? authority[..<end] : nil
    }

    /// Whether `host` is an IPv6 address in brackets, or four numbers of IPv4.
    static func isAddress(_ host: ArraySlice<UInt8>) -> Bool {
        if host.first == UInt8(ascii: "[") {
            return host.dropFirst().prefix { $0 != UInt8(ascii: "]") }.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        }
        var parts = 1
        var value: Int?
        for byte in host {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                value = min(256, (value ?? 0) * 10 + Int(byte - UInt8(ascii: "0")))
                if value == 256 { return false }
            case UInt8(ascii: "."):
                guard value != nil else { return false }
                parts += 1
                value = nil
            default:
                return false
            }
        }
        return parts == 4 && value != nil
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
