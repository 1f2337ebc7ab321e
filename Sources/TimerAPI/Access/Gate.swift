import HTTPServer
import Platform
import Primitives
import TimerCore
import Webhooks

/// Decides which requests are let in, by bearer tokens and by the rules that keep other sites' pages out. A gate is
/// immutable; a change of the tokens makes another one.
struct Gate {
    private let tokens: [[UInt8]]
    /// The tokens of which a server that forwards a request must prove one; not empty where there is a listener for
    /// such servers.
    private let peerTokens: [[UInt8]]
    private let allowedHosts: [HostRule]
    /// Whether `Host` is checked, by the listener's index. Without the check a page in a browser could reach the
    /// server by a name whose DNS was made to lead here (DNS rebinding): it would need no token where none is asked
    /// for, and on loopback the browser may run on the machine of a user who has one.
    private let checksHost: [Bool]
    private let refusedHosts: RefusedHosts

    /// Makes a gate that asks for one of `tokens`; if there are none, it lets every client in.
    ///
    /// - Parameters:
    ///   - listeners: the server's listeners, in its order.
    ///   - peerTokens: the tokens of which a server that forwards a request must have one.
    ///   - refusedHosts: takes note of the names that `Host` may not have.
    init(
        _ listeners: [BoundAddress], allowedHosts: [HostRule], tokens: [[UInt8]], peerTokens: [[UInt8]] = [],
        refusedHosts: RefusedHosts
    ) {
        self.refusedHosts = refusedHosts
        self.tokens = tokens
        self.peerTokens = peerTokens
        self.allowedHosts = allowedHosts
        checksHost = listeners.map { listener in
            guard case .tcp = listener.address else { return false }
            return tokens.isEmpty || listener.address.isLoopback
        }
    }

    /// Refuses a request without a token where one is needed.
    ///
    /// - Returns: the client, as events name it; nil where no token is needed. The server that forwards a request has
    ///   checked its client's token, if servers are given tokens.
    func authenticate(_ exchange: Exchange, _ route: Route?) throws(Problem) -> Actor? {
        if exchange.isFromPeer {
            try checkToken(of: exchange, peerTokens)
            return tokens.isEmpty ? nil : .token
        }
        if tokens.isEmpty || route?.isOpen ?? false { return nil }
        try checkToken(of: exchange, tokens)
        return .token
    }

    private func checkToken(of exchange: Exchange, _ tokens: [[UInt8]]) throws(Problem) {
        guard exchange.headers.count(of: "authorization") < 2 else {
            throw Problem(.invalidRequest, "`Authorization` is given twice: send the one that is meant")
        }
        let prefix = "bearer "
        guard let value = exchange.header("authorization")?.bytes, value.count > prefix.utf8.count,
            String(decoding: value.prefix(prefix.utf8.count), as: UTF8.self).lowercased() == prefix
        else { throw Problem(.unauthorized, "send `Authorization: Bearer` with a token of the server's token file") }
        let given = Array(value.dropFirst(prefix.utf8.count).drop { $0 == UInt8(ascii: " ") })
        // Every token is compared in full, so that the time taken does not show how much of a token was right.
        var isKnown = false
        for token in tokens { isKnown = Self.constantTimeEquals(token, given) || isKnown }
        guard isKnown else { throw Problem(.unauthorized, "the token is not known") }
    }

    private static func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        var difference = UInt8(left.count == right.count ? 0 : 1)
        for index in left.indices { difference |= left[index] ^ (index < right.count ? right[index] : 0) }
        return difference == 0
    }

    /// Refuses the requests of other sites' pages: those under foreign host names, and changes and
    /// streams of other origins.
    ///
    /// - Parameter route: nil where the target leads to no route; `*` leads to none.
    func checkOrigin(_ exchange: Exchange, _ route: Route?) throws(Problem) {
        // The server that forwards the request has checked its client.
        if exchange.isFromPeer { return }
        if checksHost[exchange.listenerIndex], !(route?.isProbe ?? false) { try checkHost(exchange) }
        let changes = exchange.method != .get && exchange.method != .head && exchange.method != .options
        guard changes || route?.isStream ?? false else { return }
        for name: StaticString in ["Sec-Fetch-Site", "Origin"] where exchange.headers.count(of: name) > 1 {
            throw .crossOrigin(givenTwice: name)
        }
        if let site = exchange.header("sec-fetch-site"), site.equals("cross-site") || site.equals("same-site") {
            throw .crossSite(site.bytes)
        }
        guard let origin = exchange.header("origin")?.bytes else { return }
        let authority = exchange.authority?.bytes
        guard let authority, PageOrigin.isSame(origin, as: authority) else {
            throw .crossOrigin(origin, authority: authority)
        }
    }

    private func checkHost(_ exchange: Exchange) throws(Problem) {
        // HTTP/1.0 requests need no `Host`, and no browser sends them.
        guard let authority = exchange.authority?.bytes else { return }
        if let host = Self.host(of: authority) {
            if Self.isAddress(host) || Self.hasNoDot(host) { return }
            if !allowedHosts.isEmpty {
                let name = String(decoding: host, as: UTF8.self).lowercased()
                if allowedHosts.contains(where: { $0.allows(name) }) { return }
            }
        }
        refusedHosts.note(Problem.shown(Self.host(of: authority) ?? authority).lowercased(), now: Clocks.monotonic())
        throw .misdirected(authority)
    }

    /// Returns the host of `authority`, without its port; nil if the host is followed by anything but a port.
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

    /// Whether `host` is a name without a dot, which no public DNS can resolve to this server.
    static func hasNoDot(_ host: ArraySlice<UInt8>) -> Bool {
        !host.isEmpty && host.allSatisfy(Alphanumeric.isInHostName)
    }

    /// Whether `host` is an IPv6 address in brackets, or four numbers of IPv4.
    static func isAddress(_ host: ArraySlice<UInt8>) -> Bool {
        if host.first == UInt8(ascii: "[") {
            let literal = String(decoding: host.dropFirst().prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self)
            return literal.utf8.contains(UInt8(ascii: ":")) && IPAddress(literal) != nil
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

/// Compares the `Origin` of a page with the `Host` of the page's request.
enum PageOrigin {
    /// Whether `origin` (`https://timers.example`) has the host and the port of `authority`, whatever their case. The
    /// default port of the origin's scheme is left out on both sides: browsers leave it out, some proxies add it.
    /// `null`, and anything else without a scheme, has no host.
    static func isSame(_ origin: ArraySlice<UInt8>, as authority: ArraySlice<UInt8>) -> Bool {
        guard let colon = origin.firstIndex(of: UInt8(ascii: ":")), origin[colon...].starts(with: "://".utf8) else {
            return false
        }
        let scheme = origin[..<colon].map(lowercase)
        let port = defaultPorts.first { $0.scheme.utf8.elementsEqual(scheme) }?.suffix
        let host = withoutPort(origin[(colon + 3)...], port)
        return !host.isEmpty && host.map(lowercase) == withoutPort(authority, port).map(lowercase)
    }

    private static let defaultPorts = [(scheme: "http", suffix: ":80"), (scheme: "https", suffix: ":443")]

    /// Returns `authority` without its port where that is empty or the default one.
    private static func withoutPort(_ authority: ArraySlice<UInt8>, _ port: String?) -> ArraySlice<UInt8> {
        for suffix in [port, ":"] {
            guard let suffix, authority.reversed().starts(with: suffix.utf8.reversed()) else { continue }
            return authority.dropLast(suffix.utf8.count)
        }
        return authority
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
