import Primitives

/// The parts of a webhook's URL that decide where it leads.
///
/// The text is parsed more strictly than RFC 3986 allows, so that no other parser finds another host in it.
public struct WebhookURL: Sendable, Equatable {
    /// The most bytes of a URL.
    public static let maximumLength = 2048
    private static let longestHost = 253

    /// Whether the scheme is `https`.
    public let isSecure: Bool
    /// The host in lower case without a final dot; an IPv6 address without brackets and as RFC 5952 spells it.
    public let host: String
    /// The port, the scheme's own where the URL names none.
    public let port: UInt16

    /// Reads an absolute `http` or `https` URL.
    public init(_ text: String) throws(WebhookError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumLength else {
            throw Self.error("the URL has \(bytes.count) bytes, more than \(Self.maximumLength)")
        }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Self.error("the URL may hold printable ASCII only: percent-encode a path, write a host in punycode")
        }
        guard let (secure, start) = Self.scheme(bytes) else {
            throw Self.error("the URL must start with `http://` or `https://`")
        }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw Self.error("the URL may have no fragment") }
        let rest = bytes[start...]
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw Self.error("the URL may hold no user name and password: use an `Authorization` header")
        }
        let (name, number) = Self.split(authority)
        isSecure = secure
        host = try Self.readHost(name)
        port = try number.map(Self.readPort) ?? (secure ? 443 : 80)
    }

    /// Whether scheme, host and port are the same, so that a receiver at one URL may know the other's secrets.
    public func sameOrigin(as other: WebhookURL) -> Bool { self == other }

    /// Returns scheme, host and port of a URL as text, in lower case and without the scheme's own port: the name of
    /// a host's queue in `HostQueues`.
    ///
    /// The result is a guess where the URL can't be read, as such a URL is refused before anything is sent.
    public static func origin(of url: String) -> String { origin(of: url.utf8.span) }

    /// Returns the same for the bytes of a URL.
    static func origin(of url: Span<UInt8>) -> String {
        var origin: [UInt8] = []
        origin.reserveCapacity(64)
        var slashes = 0
        for index in url.indices {
            let byte = url[index]
            if byte == UInt8(ascii: "/") { slashes += 1 }
            if slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            origin.append(byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte)
        }
        let text = String(decoding: origin, as: UTF8.self)
        if text.hasPrefix("http://"), text.hasSuffix(":80") { return String(text.dropLast(3)) }
        if text.hasPrefix("https://"), text.hasSuffix(":443") { return String(text.dropLast(4)) }
        return text
    }

    private static func error(_ message: String) -> WebhookError { WebhookError(member: "url", message: message) }

    private static func scheme(_ bytes: [UInt8]) -> (secure: Bool, end: Int)? {
        for (prefix, secure) in [("http://", false), ("https://", true)] {
            let start = bytes.prefix(prefix.utf8.count)
            if String(decoding: start, as: UTF8.self).lowercased() == prefix { return (secure, start.count) }
        }
        return nil
    }

    /// Splits an authority into the host, with its brackets, and what follows the colon after it; nil without a colon.
    private static func split(_ authority: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        var colon = authority.lastIndex(of: UInt8(ascii: ":"))
        // The colons within brackets belong to the address.
        if let bracket = authority.lastIndex(of: UInt8(ascii: "]")), let found = colon, found < bracket { colon = nil }
        guard let colon else { return (authority, nil) }
        return (authority[..<colon], authority[(colon + 1)...])
    }

    private static func readHost(_ name: ArraySlice<UInt8>) throws(WebhookError) -> String {
        guard !name.isEmpty else { throw error("the URL has no host") }
        let text = String(decoding: name, as: UTF8.self)
        if name.first == UInt8(ascii: "[") {
            guard name.last == UInt8(ascii: "]"), let address = IPAddress(String(text.dropFirst().dropLast())),
                case .v6 = address
            else { throw error("between brackets the URL's host must be an IPv6 address") }
            return address.description
        }
        let host = HostName.normalised(text)
        guard HostName.isValid(host), host.utf8.count <= longestHost else {
            throw error("the URL's host must be a name of letters, digits, `-`, `_` and dots, or an address")
        }
        return host
    }

    private static func readPort(_ digits: ArraySlice<UInt8>) throws(WebhookError) -> UInt16 {
        guard let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0,
            digits.allSatisfy({ $0 != UInt8(ascii: "+") })
        else { throw error("the URL's port must be 1 to 65535") }
        return port
    }
}

/// A host of webhooks, with a port or any.
public struct WebhookHost: Sendable, Equatable {
    private let host: String
    /// The port; nil for any.
    private let port: UInt16?

    /// Reads a host as it stands in a URL, `hooks.example.com`, `10.0.0.7:8080` or `[fd00::7]`; nil where `text` is none.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }),
            let url = try? WebhookURL("http://\(text)")
        else { return nil }
        host = url.host
        // The colons within brackets belong to the address.
        let end = text.utf8.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        port = text.utf8[end...].contains(UInt8(ascii: ":")) ? url.port : nil
    }

    /// Whether `url` leads to this host.
    public func matches(_ url: String) -> Bool {
        guard let url = try? WebhookURL(url) else { return false }
        return url.host == host && (port == nil || url.port == port)
    }
}

/// Names of hosts, as URLs and address rules spell them.
enum HostName {
    /// Returns the name in lower case and without a final dot, which names the same host.
    static func normalised(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    /// Whether each label has 1 to 63 letters, digits, `-` or `_`.
    static func isValid(_ name: String) -> Bool {
        name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.count) && label.allSatisfy(Alphanumeric.isInHostName)
        }
    }
}
