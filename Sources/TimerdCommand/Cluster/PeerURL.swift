import HTTPServer

/// The address at which a server takes forwarded requests, as the other servers see it.
enum PeerURL {
    /// Returns `host:port` of the listener for forwarded requests; its host is that of `url` where it listens at
    /// every address.
    static func of(_ address: BoundAddress, url: String) -> String {
        guard case .tcp(let host, let port) = address.address else { return "" }
        let isEvery = address.address.fromHere != address.address
        let name = isEvery ? Self.host(of: url) : host
        return name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
    }

    /// Returns the host and port of `peer`; nil where it is neither a name nor an address with a port.
    static func parts(_ peer: String) -> (host: String, port: UInt16)? {
        guard let address = try? ListenAddress(parsing: peer), case .tcp(let host, let port) = address, port > 0 else {
            return nil
        }
        return (host, port)
    }

    /// Returns the host of a URL, without brackets.
    private static func host(of url: String) -> String {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" }
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }
}
