import HTTPServer
import Platform
import Primitives
import TimerCore
import TimerService
import Webhooks

/// Decides which requests are let in, by tokens, by keys, and by the rules that keep other sites' pages out. A gate is
/// immutable; a change of the tokens or the keys makes another one. A gate is a class, as each request takes hold of it: of a
/// struct that would be a reference to each of its arrays.
final class Gate {
    /// The number of the gate among those of its loop.
    let serial: UInt64
    private let tokens: [[UInt8]]
    /// The keys; nil where another server owns the log, and so knows them.
    private let keys: KeyRing?
    /// The tokens of which a server that forwards a request must prove one; not empty where there is a listener for
    /// such servers.
    private let peerTokens: [[UInt8]]
    private let allowedHosts: [HostRule]
    /// Whether `Host` is checked, by the listener's index. Without the check a page in a browser could reach the
    /// server by a name whose DNS was made to lead here (DNS rebinding): it would need no token where none is asked
    /// for, and on loopback the browser may run on the machine of a user who has one.
    private let checksHost: [Bool]
    private let refusedHosts: RefusedHosts
    /// The credential of the clients that are asked for none.
    private let anonymous: Credential

    /// Makes a gate that asks for one of `tokens` or of `keys`; if there are no tokens, it lets every client in.
    ///
    /// - Parameters:
    ///   - listeners: the server's listeners, in its order.
    ///   - peerTokens: the tokens of which a server that forwards a request must have one.
    ///   - refusedHosts: takes note of the names that `Host` may not have.
    init(
        _ listeners: [BoundAddress], allowedHosts: [HostRule], tokens: [[UInt8]], keys: KeyRing? = nil,
        peerTokens: [[UInt8]] = [], refusedHosts: RefusedHosts, serial: UInt64 = 0
    ) {
        self.serial = serial
        anonymous = Credential([], .nobody, until: .max, gate: serial)
        self.refusedHosts = refusedHosts
        self.tokens = tokens
        self.keys = keys
        self.peerTokens = peerTokens
        self.allowedHosts = allowedHosts
        checksHost = listeners.map { listener in
            guard case .tcp = listener.address else { return false }
            return tokens.isEmpty || listener.address.isLoopback
        }
    }

    /// Finds the client of a request by its credential. Refuses a request without one where one is needed.
    ///
    /// - Parameters:
    ///   - route: nil where the target leads to no route.
    ///   - known: the credential of the connection's request before this one; nil for none.
    func authenticate(
        _ exchange: Exchange, _ route: Route?, known: Credential?
    ) throws(Problem) -> Credential {
        if exchange.isFromPeer { return try authenticateRelayed(exchange) }
        if tokens.isEmpty || route?.isOpen ?? false { return anonymous }
        let line = try Self.authorization(of: exchange)
        // The credential of a request that was asked for none has no line, and proves nothing.
        if let known, !known.line.isEmpty, known.isGood(at: serial), known.isGiven(by: line) { return known }
        return try judge(Array(line))
    }

    /// Judges the text of an `Authorization` line.
    private func judge(_ line: [UInt8]) throws(Problem) -> Credential {
        guard let bearer = Self.bearer(in: line[...]) else {
            throw Problem(.unauthorized, "send `Authorization: Bearer` with a token or a key")
        }
        if Self.isOne(bearer, of: tokens) { return Credential(line, .token, until: .max, gate: serial) }
        guard KeySecret.id(in: bearer) != nil else { throw .unknownCredential }
        guard let keys else { return Credential(line, .unproved, until: .max, gate: serial) }
        return try judge(secret: bearer, by: keys, line)
    }

    private func judge(
        secret: ArraySlice<UInt8>, by keys: KeyRing, _ line: [UInt8]
    ) throws(Problem) -> Credential {
        switch KeySecret.judge(secret, by: keys, at: Clocks.realtime() / 1_000_000) {
        case .good(let key, let until): Credential(line, .key(KeyHolder(key)), until: until, gate: serial)
        case .expired, .unknown: throw .unknownCredential
        }
    }

    /// Finds the client of a request that another server has forwarded. That server proves that it is one, and says who
    /// its client is; a key it can't judge, so it hands on what its client has sent.
    private func authenticateRelayed(_ exchange: Exchange) throws(Problem) -> Credential {
        guard let line = exchange.header("authorization")?.bytes, let bearer = Self.bearer(in: line),
            Self.isOne(bearer, of: peerTokens)
        else {
            var problem = Problem(.unauthorized, "this is no token of the cluster")
            problem.isOfServer = true
            throw problem
        }
        // A server that knows of no keys sends no such line, and lets in what has a token.
        let client = exchange.header(Self.clientHeader)?.bytes ?? Self.tokenWord[...]
        return try judgeRelayed(Array(client))
    }

    private func judgeRelayed(_ client: [UInt8]) throws(Problem) -> Credential {
        if client == Self.tokenWord {
            return Credential(client, tokens.isEmpty ? .nobody : .token, until: .max, gate: serial)
        }
        if client == Self.nobodyWord {
            guard tokens.isEmpty else { throw .unknownCredential }
            return Credential(client, .nobody, until: .max, gate: serial)
        }
        guard let keys else { throw .misdirectedByPeer }
        return try judge(secret: client[...], by: keys, client)
    }

    /// Whether a credential that an earlier gate has let in is still good.
    func stillTakes(_ credential: Credential) -> Bool {
        if credential.isGood(at: serial) { return true }
        do throws(Problem) {
            let judged: Credential
            if credential.line.isEmpty {
                guard tokens.isEmpty else { return false }
                judged = anonymous
            } else if Self.bearer(in: credential.line[...]) == nil {
                judged = try judgeRelayed(credential.line)
            } else {
                judged = try judge(credential.line)
            }
            let (old, new) = (credential.principal, judged.principal)
            // This gate leaves to the owner of the log what only that one can judge.
            if old.isUnproved || new.isUnproved { return true }
            guard old.key?.scopes == new.key?.scopes, old.key?.idPrefix == new.key?.idPrefix else { return false }
            credential.renew(as: judged)
            return true
        } catch {
            return false
        }
    }

    /// The header by which a server tells the one that owns the log who its client is: `token`, `nobody`, or the secret
    /// of a key.
    static let clientHeader: StaticString = "timerd-client"
    private static let tokenWord = Array("token".utf8)
    private static let nobodyWord = Array("nobody".utf8)

    /// Returns the value of the header for a client's request.
    static func client(_ exchange: Exchange, _ principal: Principal) -> [UInt8] {
        switch principal {
        case .nobody: nobodyWord
        case .token: tokenWord
        case .key, .unproved: (exchange.header("authorization")?.bytes).flatMap(bearer).map(Array.init) ?? nobodyWord
        }
    }

    /// Returns the id of the key that a client claims to have, if only the owner of the log can judge that.
    static func claimedKey(_ exchange: Exchange, _ principal: Principal) -> [UInt8]? {
        guard principal.isUnproved, let line = exchange.header("authorization")?.bytes else { return nil }
        return bearer(in: line).flatMap { KeySecret.id(in: $0) }.map { Array($0.text.utf8) }
    }

    private static func authorization(of exchange: Exchange) throws(Problem) -> ArraySlice<UInt8> {
        guard let lines = exchange.headers.lines("authorization") else {
            throw Problem(.unauthorized, "send `Authorization: Bearer` with a token or a key")
        }
        guard lines.count == 1 else {
            throw Problem(.invalidRequest, "`Authorization` is given twice: send the one that is meant")
        }
        return lines.first.bytes
    }

    /// Returns the credential of an `Authorization` line; nil where it has another scheme.
    private static func bearer(in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = "bearer "
        guard line.count > scheme.utf8.count,
            String(decoding: line.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme
        else { return nil }
        return line.dropFirst(scheme.utf8.count).drop { $0 == UInt8(ascii: " ") }
    }

    /// Compares every token in full, so that the time taken does not show how much of a token was right.
    private static func isOne(_ given: ArraySlice<UInt8>, of tokens: [[UInt8]]) -> Bool {
        var isKnown = false
        for token in tokens { isKnown = ConstantTime.equals(token, given) || isKnown }
        return isKnown
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
