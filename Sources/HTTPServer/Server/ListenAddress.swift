/// An address to listen at, as configured.
public enum ListenAddress: Sendable, Equatable {
    /// A TCP port; `host` is an IPv4 or IPv6 literal (without brackets) or `localhost`, which is 127.0.0.1. Port 0
    /// lets the kernel choose. Clients speak TLS where it `isSecure`.
    case tcp(host: String, port: UInt16, isSecure: Bool = false)
    /// A Unix socket at `path`, at most 107 bytes; only its owner may connect, unless `access` lets others.
    case unix(path: String, access: SocketAccess = SocketAccess())

    /// The longest path that a Unix socket's address holds.
    static let longestPath = 107

    /// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:80`, `https://127.0.0.1:8443`, `unix:/path` or
    /// `unix:/path?mode=0660&group=www`.
    ///
    /// Throws: `ListenError` naming what is wrong with `text`. `check` shows whether the host is an address, and whether there
    /// is such a group.
    public init(parsing text: String) throws(ListenError) {
        let unixPrefix = "unix:"
        if text.hasPrefix(unixPrefix) {
            let place = text.dropFirst(unixPrefix.count)
            let path = place.prefix { $0 != "?" }
            guard !path.isEmpty else { throw ListenError("\(text): the path after unix: is missing") }
            let hasAccess = path.endIndex < place.endIndex
            let access =
                hasAccess ? try SocketAccess(parsing: place[path.endIndex...].dropFirst(), of: text) : SocketAccess()
            self = .unix(path: String(path), access: access)
            return
        }
        guard !text.contains(where: { $0 == "," || $0.isWhitespace }) else {
            throw ListenError("\(text): one address has neither blanks nor commas; several are given one by one")
        }
        let isSecure = text.hasPrefix(Self.securePrefix)
        let place = isSecure ? text.dropFirst(Self.securePrefix.count) : text[...]
        guard let colon = place.lastIndex(of: ":") else {
            throw ListenError("\(text): expected host:port, [host]:port, https://host:port or unix:/path")
        }
        let digits = place[place.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
            throw ListenError("\(text): the port is a number from 0 to 65535")
        }
        var host = place[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw ListenError("\(text): an IPv6 address needs brackets, as [::1]:8080")
        }
        guard !host.isEmpty else { throw ListenError("\(text): the host is missing; 0.0.0.0 means every address") }
        self = .tcp(host: String(host), port: port, isSecure: isSecure)
    }

    private static let securePrefix = "https://"

    /// Checks that a socket can be bound to this address, as far as that shows without one.
    ///
    /// Throws: `ListenError` that names the address: the host is neither an IP address nor `localhost`, or a path
    /// can't be that of a socket.
    public func check() throws(ListenError) {
        switch self {
        case .tcp(let host, let port, _):
            guard SocketAddress(host: host, port: port) == nil else { return }
            let every = host == "*" ? "; every address is 0.0.0.0, or [::] for IPv6" : ""
            throw ListenError("\(url): \(host) is neither an IP address nor localhost\(every)")
        case .unix(let path, let access):
            guard !path.isEmpty, path.utf8.count <= Self.longestPath else {
                throw ListenError("\(url): a socket's path has 1 to \(Self.longestPath) bytes")
            }
            guard !path.utf8.contains(0) else { throw ListenError("\(url): the path has a zero byte") }
            _ = try access.groupID(for: url)
        }
    }

    /// The address as a client writes it: `http://127.0.0.1:8080`, `https://[::1]:8443` or `unix:/path`.
    public var url: String {
        switch self {
        case .unix(let path, _): return "unix:\(path)"
        case .tcp(let host, let port, let isSecure):
            let scheme = isSecure ? Self.securePrefix : "http://"
            return host.contains(":") ? "\(scheme)[\(host)]:\(port)" : "\(scheme)\(host):\(port)"
        }
    }

    /// The address as the kernel has it; nil for a Unix socket, and where the host is neither an IP address nor
    /// `localhost`.
    var socketAddress: SocketAddress? {
        if case .tcp(let host, let port, _) = self { SocketAddress(host: host, port: port) } else { nil }
    }

    /// Whether clients speak TLS.
    public var isSecure: Bool {
        if case .tcp(_, _, true) = self { true } else { false }
    }

    /// The address by which this machine itself reaches the socket: loopback where the socket listens at every
    /// address.
    public var fromHere: ListenAddress {
        guard case .tcp(let host, let port, let isSecure) = self,
            let address = SocketAddress(host: host, port: port), address.isWildcard
        else { return self }
        return .tcp(host: address.isIPv6 ? "::1" : "127.0.0.1", port: port, isSecure: isSecure)
    }

    /// Whether only this machine can connect: Unix sockets, 127.0.0.0/8, ::1, `localhost`.
    public var isLoopback: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _, _):
            host == "localhost" || SocketAddress(host: host, port: 0)?.isLoopback ?? false
        }
    }
}

/// An address that the server listens on, once bound.
public struct BoundAddress: Sendable, Equatable, CustomStringConvertible {
    /// The address; a port 0 is replaced by the one that the kernel chose.
    public let address: ListenAddress
    /// Whether the address is a Unix socket without a file: its name, shown after `@`, exists in the kernel alone.
    public var hasNoFile = false

    /// `http://127.0.0.1:8080`, `https://[::1]:8443` or `unix:/path`.
    public var description: String { address.url }

    /// The TCP port; nil for a Unix socket.
    public var port: UInt16? {
        if case .tcp(_, let port, _) = address { port } else { nil }
    }
}

/// Why the server can't listen; one line that names the address.
public struct ListenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
